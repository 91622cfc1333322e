import { setTimeout as pause } from 'node:timers/promises'
import { newTask, systemClock, withDeadline } from '../../../src-main/kernel/index.ts'
import { createSampler } from '../../../src-main/monitoring/index.ts'
import { withHints } from '../../../src-main/queue/pool/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import { cpuMsOf } from '../claim/cpu-time.ts'
import { Processes } from '../claim/processes.ts'
import { benchTask } from '../claim/protocol.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue } from '../../support/open-queue.ts'
import { atLeast, median, type Goal } from '../../support/report.ts'
import { openWatched } from './ticks.ts'

/*
 * The throughput of workers that drain a queue which never runs dry, watched and not: stretches of one long run, in pairs whose order takes
 * turns, so that warming up, the growing table and the machine's moods meet both sides alike. The sampler is the app's, at its own pace: on a server
 * at full speed it reads every ten seconds and more, so a stretch must be longer. A neighbour on the machine moves a stretch by far more than 2 %:
 * the intervals say how much the pairs tell, and the server's CPU for a task tells more than its pace.
 */

export interface PairOptions {
  readonly workers: number
  readonly pairs: number
  /** Of one stretch. */
  readonly seconds: number
}

export interface PairsResult {
  readonly workers: number
  readonly pairs: number
  /** Watched to not watched: the median, and where it lies with 95 % confidence. */
  readonly ratio: number
  readonly between: readonly [number, number]
  readonly watchedPerSecond: number
  readonly alonePerSecond: number
  /** The server's CPU for a task, watched to not watched; the work that slows down others' on a busy server. NaN where the system does not tell. */
  readonly serverCpu: number
  readonly serverCpuBetween: readonly [number, number]
  /** Ticks within all watched stretches, and how far apart the sampler makes them at the end. */
  readonly ticks: number
  readonly intervalMs: number
}

/** Tasks that each worker process holds at once. */
const batch = 50
const submitted = 1_000
/** Submitted and not done yet: the workers never wait for the producer. */
const ahead = 10_000
const warmUpMs = 15_000
const firstTickMs = 60_000
const task = newTask.parse({ type: benchTask.type, payload: benchTask.payload })

interface Stretch {
  readonly perSecond: number
  readonly serverMsPerTask: number
}

export async function measurePairs(
  server: TestMariaDb,
  { workers, pairs, seconds }: PairOptions
): Promise<PairsResult> {
  const url = await server.createDatabase('bench_monitor_pairs')
  const queue = await openTestQueue(url)
  const processes = await Processes.start(workers, { file: 'process.ts', url, profileDir: '' })
  const watched = await openWatched(url)
  let ticks = 0
  let ticked = Promise.withResolvers<void>()
  const sampler = createSampler({
    connectionId: 'bench',
    clock: systemClock,
    read: () => watched.read(),
    onTick: () => {
      ticks += 1
      ticked.resolve()
    },
    onState: () => undefined
  })
  const stretch = async (isWatched: boolean): Promise<Stretch> => {
    if (isWatched) {
      // The first reading also counts what came while nobody looked: none of the stretch's.
      ticked = Promise.withResolvers()
      sampler.start()
      await withDeadline(systemClock, firstTickMs, ticked.promise, () => new Error('No reading came.'))
      ticks -= 1
    }
    const [from, done, cpuMs] = [performance.now(), processes.doneCount, cpuMsOf(server.pid)]
    await pause(seconds * 1_000)
    const [tasks, took] = [processes.doneCount - done, performance.now() - from]
    const serverMs = cpuMsOf(server.pid) - cpuMs
    await sampler.stop()
    return { perSecond: (tasks * 1_000) / took, serverMsPerTask: serverMs / tasks }
  }

  const stop = new AbortController()
  await processes.enter({ mode: 'engine', batch }, workers)
  const feeding = feed(withHints(queue.store, { clock: systemClock }), processes, stop.signal)
  await Promise.race([pause(warmUpMs), feeding])
  const runs: { readonly watched: Stretch; readonly alone: Stretch }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const isFirst = pair % 2 === 0
    const first = await stretch(isFirst)
    const second = await stretch(!isFirst)
    runs.push(isFirst ? { watched: first, alone: second } : { watched: second, alone: first })
  }
  stop.abort()
  await feeding
  await processes.stop()
  await watched.close()
  await queue.close()
  const ratios = runs.map((run) => run.watched.perSecond / run.alone.perSecond)
  const cpu = runs.map((run) => run.watched.serverMsPerTask / run.alone.serverMsPerTask)
  return {
    workers,
    pairs,
    ratio: rounded(median(ratios)),
    between: medianBetween(ratios),
    watchedPerSecond: Math.round(median(runs.map((run) => run.watched.perSecond))),
    alonePerSecond: Math.round(median(runs.map(({ alone }) => alone.perSecond))),
    serverCpu: rounded(median(cpu)),
    serverCpuBetween: medianBetween(cpu),
    ticks,
    intervalMs: sampler.intervalMs
  }
}

/** Keeps so many tasks ahead of the workers until it is stopped, and then waits for those. */
async function feed(store: TaskStore, processes: Processes, stop: AbortSignal): Promise<void> {
  let total = 0
  while (!stop.aborted) {
    if (total - processes.doneCount < ahead) {
      await store.submit(Array.from({ length: submitted }, () => task))
      total += submitted
    } else await processes.reach(total - ahead + submitted)
  }
  await processes.reach(total)
}

/** Between these two lies the median of what was drawn from, in 95 of 100 runs, whatever its shape: from ranks, by the sign test. */
function medianBetween(values: readonly number[]): readonly [number, number] {
  const sorted = [...values].sort((a, b) => a - b)
  const half = 0.98 * Math.sqrt(sorted.length)
  const at = (rank: number): number =>
    rounded(sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(rank)))] ?? Number.NaN)
  return [at(sorted.length / 2 - half - 0.5), at(sorted.length / 2 + half - 0.5)]
}

const rounded = (value: number): number => Number(value.toFixed(4))

export const pairGoals = ({ workers, ratio }: PairsResult): Goal[] => [
  atLeast(`throughput of ${workers} workers, watched to not watched`, ratio, 'ratio', 0.98)
]
