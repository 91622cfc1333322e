import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPrivateMariaDb } from '../../support/mariadb.ts'
import { check, eventsOf, type Violation } from '../checker.ts'
import { collectEvidence, countTicks } from '../witness.ts'
import { readHistory } from '../client-history.ts'
import { fakeTimeLibrary } from '../injections/index.ts'
import { limitedType } from '../producer.ts'
import { tick, World } from '../world.ts'

export interface ClockSteps {
  readonly injected: number
  readonly problems: readonly string[]
  readonly violations: readonly Violation[]
  /** All events of the task of the first one. */
  readonly first: readonly string[]
  readonly events: number
}

/** The last one makes due what was made while the clock was ahead. */
const steps = ['+10m', '+0', '-10m', '+11m']

/**
 * F9: the database's clock steps ten minutes ahead and back again under load. What may happen is what is written in docs/delivery.md:
 * leases end early or late and due times move; no write gets past a fence, and nothing is lost or doubled. The checks of times (I9, rates) do
 * not apply to a clock that steps.
 */
export async function stepDatabaseClock(options: {
  readonly leaseMs: number
  readonly seed: number
  readonly tasks: number
  readonly deadlineMs: number
}): Promise<ClockSteps> {
  const file = join(mkdtempSync(join(tmpdir(), 'taskdeck-clock-')), 'clock')
  writeFileSync(file, '+0\n')
  const server = await startPrivateMariaDb({ inMemory: true, env: clockFrom(file) })
  try {
    const mix = { deaths: false, crashes: false, duplicates: true, poison: false }
    const world = await World.make(server, {
      workers: 2,
      concurrency: 3,
      leaseMs: options.leaseMs,
      seed: options.seed,
      mix,
      limited: true,
      mutant: null
    })
    try {
      await world.fleet.refill(2)
      for (const offset of steps) {
        await world.producer.submit(Math.ceil(options.tasks / steps.length))
        await sleep(300)
        writeFileSync(file, `${offset}\n`)
        await sleep(1_500)
      }
      await world.stopSchedule()
      const until = performance.now() + options.deadlineMs
      while ((await world.unfinished()) > 0 && performance.now() < until) await sleep(250)
      const killed = await world.fleet.stop()
      const evidence = {
        ...(await collectEvidence(world.admin)),
        effects: { types: ['ledger', limitedType], rows: await world.effects() },
        scheduled: { title: tick, ...(await countTicks(world.admin, tick)) },
        submitted: world.producer.submitted,
        unknown: world.producer.unknown,
        history: readHistory(world.fleet.histories),
        limits: { ...world.limits, rates: {} },
        operators: ['test']
      }
      const violations = check(evidence).violations.filter(({ rule }) => rule !== 'I9')
      return {
        injected: steps.length,
        problems: killed > 0 ? [`F9: ${killed} processes had to be killed`] : [],
        violations,
        first: violations[0] ? eventsOf(violations[0], evidence) : [],
        events: evidence.events.length
      }
    } finally {
      await world.fleet.stop()
      await world.close()
    }
  } finally {
    await server.stop()
  }
}

/** The clock that `file` says, read again every second. */
const clockFrom = (file: string): NodeJS.ProcessEnv => ({
  LD_PRELOAD: fakeTimeLibrary() ?? '',
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1'
})
