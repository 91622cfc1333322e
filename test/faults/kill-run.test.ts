import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { killRun } from './kill-run.ts'

let server: TestMariaDb
beforeAll(async () => {
  server = await startPrivateMariaDb()
})
afterAll(() => server.stop())

/** The short form of `npm run faults -- kill`, which runs 20,000 tasks. */
it(
  'keeps every promise while workers are killed and frozen and the database is killed',
  { timeout: 240_000 },
  async () => {
    const result = await killRun(server, {
      tasks: 1_000,
      workers: 3,
      killEveryMs: 1_500,
      mostKills: 6,
      freeze: true,
      restartDatabase: true,
      leaseMs: 2_000,
      deadlineMs: 200_000,
      seed: 7
    })
    expect(result.verdict.violations.slice(0, 5)).toEqual([])
    expect(result).toMatchObject({ ended: 1_000, succeeded: 1_000, effects: 1_000, databaseRestarts: 1 })
    expect(result.attempts).toBe(result.verdict.claims)
    expect(result.kills).toBeGreaterThan(0)
  }
)
