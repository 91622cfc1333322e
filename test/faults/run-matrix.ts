import { setTimeout as sleep } from 'node:timers/promises'
import type { Percentiles } from '../../src-main/kernel/index.ts'
import { percentilesOf } from '../../src-main/queue/reading-figures.ts'
import type { TestMariaDb } from '../support/mariadb.ts'
import { check, eventsOf, type Violation } from './checker.ts'
import { readHistory } from './client-history.ts'
import type { Evidence } from './evidence.ts'
import { injections, type FaultId, type Injection } from './injections/index.ts'
import { readRecord } from './handler-parts/first-time.ts'
import { Feeder } from './feeder.ts'
import { FleetGauge, type FleetFigures } from './fleet-gauge.ts'
import { runOutside } from './run-outside.ts'
import { add, type Tally } from './tally.ts'
import { collectEvidence, countTicks } from './witness.ts'
import { limitedType } from './producer.ts'
import { boundedType } from './quota-pressure.ts'
import { recoveryWithinMs, tick, World } from './world.ts'

export interface MatrixOptions {
  readonly tasks: number
  readonly workers: number
  /** Tasks at once in each of them. */
  readonly concurrency: number
  readonly seed: number
  readonly faults: readonly FaultId[]
  readonly leaseMs: number
  /** Whether the queue, types and owners are limited (world.ts). */
  readonly limited: boolean
  /** Injection goes on until the tasks have ended, at most so long (ms); each kind is injected once whatever happens. */
  readonly injectMs: number
  /** For everything to end after the last fault (ms). */
  readonly drainMs: number
  /** Pause between two injections (ms). */
  readonly pauseMs: number
  /** How often the migration (F13) is cut. */
  readonly migrationCuts: number
  readonly databaseCuts: number
  readonly mutant: string | null
  /** Told what is being done, for people who wait. */
  readonly say: (text: string) => void
}

export interface MatrixResult {
  readonly seed: number
  readonly tasks: number
  readonly ended: number
  readonly eventsChecked: number
  readonly claims: number
  readonly recoveries: number
  /** From the end of a lease to its recovery; the database may have been away then. Null without recoveries. */
  readonly recoveredAfterMs: Percentiles | null
  readonly attempts: number
  readonly effects: number
  readonly unknownSubmissions: number
  /** Of each limit: the most that there ever was. */
  readonly mostLive: Readonly<Record<string, number>>
  readonly quotaRefusals: number
  readonly lostLeases: number
  /** By kind, and by form where a kind has several: `F4 lost-commit-reply`. */
  readonly injected: Readonly<Record<string, number>>
  /** Tasks at whose death point the process was killed, or that ended their thread: by name of the point or the crash. */
  readonly hurt: Readonly<Record<string, number>>
  /** What was asked for and could not run, and why. */
  readonly notRun: Readonly<Record<string, string>>
  readonly violations: readonly Violation[]
  /** Broken expectations that are no violation of the queue's promises, such as a process that did not end. */
  readonly problems: readonly string[]
  /** Of the first violation: every event of its task. */
  readonly first: readonly string[]
  readonly drainSeconds: number
  readonly seconds: number
  readonly fleet: FleetFigures
  /** Histories and the output of the processes. */
  readonly folder: string
}

/** Of a drain that takes minutes. */
const tellEveryMs = 30_000

/** The kinds that F19 has on for all of its time. */
const soak: readonly FaultId[] = ['F1', 'F4', 'F10']

export async function runMatrix(server: TestMariaDb, options: MatrixOptions): Promise<MatrixResult> {
  const began = performance.now()
  const wanted = new Set<FaultId>(options.faults.flatMap((id) => (id === 'F19' ? soak : [id])))
  const injected = new Map<string, number>()
  const notRun: Record<string, string> = {}
  const outside = await runOutside(server, wanted, options, { injected, notRun })
  const world = await World.make(server, {
    workers: options.workers,
    concurrency: options.concurrency,
    leaseMs: options.leaseMs,
    seed: options.seed,
    limited: options.limited,
    mutant: options.mutant,
    mix: {
      deaths: wanted.has('F1'),
      crashes: wanted.has('F2'),
      duplicates: wanted.has('F11'),
      poison: wanted.has('F12')
    }
  })
  try {
    await world.fleet.refill(options.workers)
    const gauge = new FleetGauge(world)
    if (options.limited) world.quotaPressure.start()
    await inject(world, wanted, options, { injected, notRun }, gauge)
    if (options.limited) world.problems.push(...(await world.quotaPressure.stop()))
    const drainSeconds = await drain(world, options)
    const fleet = await gauge.read()
    const killed = await world.fleet.stop()
    if (killed > 0) world.problems.push(`${killed} processes had to be killed at the end`)
    const evidence = await gather(world, options)
    const verdict = check(evidence)
    const violations = [...outside.violations, ...verdict.violations]
    const first = violations[0]
    return {
      seed: options.seed,
      tasks: evidence.final.size,
      ended: [...evidence.final.values()].filter(({ state }) => isEnd(state)).length,
      eventsChecked: evidence.events.length + outside.events + historySize(evidence),
      claims: verdict.claims,
      recoveries: verdict.recoveredAfterMs.length,
      recoveredAfterMs: percentilesOf(verdict.recoveredAfterMs),
      attempts: evidence.attempts.length,
      effects: evidence.effects?.rows.length ?? 0,
      unknownSubmissions: evidence.unknown?.length ?? 0,
      mostLive: verdict.most,
      quotaRefusals: world.quotaPressure.refusals,
      lostLeases: evidence.history?.lostLeases ?? 0,
      injected: Object.fromEntries(injected),
      hurt: readRecord(world.folder),
      notRun,
      violations,
      problems: [...outside.problems, ...world.problems, ...world.producer.wrongAnswers, ...world.fleet.unexpectedEnds],
      first: outside.first ?? (first ? eventsOf(first, evidence) : []),
      drainSeconds,
      seconds: Math.round((performance.now() - began) / 1_000),
      fleet,
      folder: world.folder
    }
  } finally {
    await world.fleet.stop()
    await world.close()
  }
}

/** In rounds: each kind once a round, in an order of the seed's, until the tasks have ended or the time is over. */
async function inject(
  world: World,
  wanted: ReadonlySet<FaultId>,
  options: MatrixOptions,
  tally: Tally,
  gauge: FleetGauge
): Promise<void> {
  const able = injections.filter(({ id, unable }) => {
    const reason = wanted.has(id) ? unable?.() : undefined
    if (reason !== undefined) tally.notRun[id] = reason
    return wanted.has(id) && reason === undefined
  })
  const feeder = new Feeder(world, options.tasks)
  if (wanted.has('F12')) await world.producer.poisonRows(world.admin)
  const until = performance.now() + options.injectMs
  for (let round = 0; round === 0 || (performance.now() < until && !(await feeder.isDone())); round++)
    for (const injection of world.random.shuffled(able)) {
      if (round > 0 && (performance.now() > until || (await feeder.isDone()))) break
      await feeder.feed()
      await sleep(options.pauseMs)
      await gauge.sample()
      options.say(`${injection.id} with ${await world.unfinished()} tasks open`)
      add(tally, injection.id, await injectOnce(world, injection))
      world.heal(world.fleet.refill(options.workers))
    }
  await feeder.finish()
  for (const [id, count] of Object.entries(world.producer.counts)) if (count > 0) add(tally, id, count)
}

async function injectOnce(world: World, injection: Injection): ReturnType<Injection['inject']> {
  try {
    return await injection.inject(world)
  } catch (error) {
    world.problems.push(`${injection.id}: ${String(error)}`)
    return 0
  }
}

/** How long everything took to end after the last fault had healed. */
async function drain(world: World, { drainMs, workers, say }: MatrixOptions): Promise<number> {
  await world.healed()
  await world.fleet.refill(workers)
  await world.stopSchedule()
  say(`all faults are over; ${await world.unfinished()} tasks are open`)
  const began = performance.now()
  let toldAt = began
  for (let open = await world.unfinished(); open > 0; open = await world.unfinished()) {
    const now = performance.now()
    if (now - began > drainMs) break
    if (now - toldAt > tellEveryMs) {
      say(`${open} tasks are open`)
      toldAt = now
    }
    // Tasks that kill their process are among those that are left.
    await world.fleet.refill(workers)
    await sleep(250)
  }
  return Math.round((performance.now() - began) / 100) / 10
}

async function gather(world: World, { leaseMs }: MatrixOptions): Promise<Evidence> {
  const { producer, quotaPressure, fleet } = world
  return {
    ...(await collectEvidence(world.admin)),
    effects: { types: ['ledger', limitedType, boundedType], rows: await world.effects() },
    scheduled: { title: tick, ...(await countTicks(world.admin, tick)) },
    limits: world.limits,
    submitted: [...producer.submitted, ...quotaPressure.submitted],
    unknown: [...producer.unknown, ...quotaPressure.unknown],
    expected: producer.expected,
    history: readHistory(fleet.histories),
    leaseMs,
    recovery: { withinMs: recoveryWithinMs(leaseMs), outages: world.outages.spans },
    operators: ['test']
  }
}

const historySize = ({ history }: Evidence): number => (history ? history.claims.length + history.settles.length : 0)
const isEnd = (state: string): boolean => ['SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'CANCELLED'].includes(state)
