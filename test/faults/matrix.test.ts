import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { faultIds } from './injections/index.ts'
import { crashes, deathPoints } from './producer.ts'
import { runMatrix } from './run-matrix.ts'

let server: TestMariaDb
beforeAll(async () => {
  server = await startPrivateMariaDb({ inMemory: true })
})
afterAll(() => server.stop())

const kinds = faultIds.filter((id) => id !== 'F19')

/** The short form of `npm run faults`, which a long run repeats with 100,000 tasks: every kind of fault at least once. */
it('keeps every promise under every kind of fault', { timeout: 420_000 }, async () => {
  const result = await runMatrix(server, {
    tasks: 150,
    workers: 3,
    concurrency: 3,
    seed: 7,
    faults: kinds,
    leaseMs: 2_000,
    limited: true,
    injectMs: 5_000,
    pauseMs: 100,
    drainMs: 120_000,
    migrationCuts: 2,
    databaseCuts: 1,
    mutant: null,
    say: () => undefined
  })
  const { violations, first, problems, notRun, folder } = result
  expect({ violations: violations.slice(0, 5), first, problems, folder }).toEqual({
    violations: [],
    first: [],
    problems: [],
    folder
  })
  expect(result.ended).toBe(result.tasks)
  expect(result.attempts).toBe(result.claims)
  const done = new Set(Object.keys({ ...result.injected, ...notRun }).map((name) => name.split(' ')[0]))
  expect([...done].sort()).toEqual([...kinds].sort())
  expect(Object.keys(result.injected).filter((name) => name.startsWith('F4'))).toEqual([
    'F4 reset',
    'F4 end',
    'F4 half-request',
    'F4 lost-reply',
    'F4 lost-commit-reply',
    'F4 lost-commit-reply of the producer'
  ])
  expect(Object.entries(result.injected).filter(([, count]) => count === 0)).toEqual([])
  expect(result.mostLive).toEqual({
    'the queue': 6,
    'type limited': 2,
    'owner o1': 3,
    'claims of bounded in 1000 ms': 2,
    'unfinished bounded': 4
  })
  expect(Object.keys(result.hurt).sort()).toEqual([...deathPoints, ...crashes].sort())
})
