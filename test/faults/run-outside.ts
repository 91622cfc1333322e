import type { TestMariaDb } from '../support/mariadb.ts'
import type { Violation } from './checker.ts'
import { withoutFakeTime, type FaultId } from './injections/index.ts'
import type { MatrixOptions } from './run-matrix.ts'
import { stepDatabaseClock } from './scenarios/database-clock.ts'
import { cutMigrations } from './scenarios/migration-power-cut.ts'
import { add, type Tally } from './tally.ts'

interface Outside {
  readonly problems: string[]
  readonly violations: Violation[]
  /** Events of the first of them. */
  first: readonly string[] | undefined
  events: number
}

/** Those that need a server or a database of their own. */
export async function runOutside(
  server: TestMariaDb,
  wanted: ReadonlySet<FaultId>,
  options: MatrixOptions,
  tally: Tally
): Promise<Outside> {
  const outside: Outside = { problems: [], violations: [], first: undefined, events: 0 }
  // Side by side: they share nothing, and each waits for most of its time. Both end before a failure is told: whoever hears of it
  // stops the server, and what that does to the other one would stand in front of the cause.
  const ends = await Promise.allSettled([
    wanted.has('F13') && cutOutside(server, options, tally, outside),
    wanted.has('F9') && stepOutside(options, tally, outside)
  ])
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return outside
}

async function cutOutside(server: TestMariaDb, options: MatrixOptions, tally: Tally, outside: Outside): Promise<void> {
  const { migrationCuts: cuts, databaseCuts, seed } = options
  options.say('F13: migrations are cut')
  const result = await cutMigrations(server, { cuts, databaseCuts, seed })
  add(tally, 'F13', result.injected)
  outside.problems.push(...result.problems)
}

async function stepOutside(options: MatrixOptions, tally: Tally, outside: Outside): Promise<void> {
  const reason = withoutFakeTime()
  if (reason !== undefined) {
    tally.notRun['F9'] = reason
    return
  }
  options.say('F9: the clock of a database steps')
  const result = await stepDatabaseClock({
    leaseMs: options.leaseMs,
    seed: options.seed,
    tasks: 40,
    deadlineMs: 60_000
  })
  add(tally, 'F9', result.injected)
  outside.problems.push(...result.problems)
  outside.violations.push(...result.violations)
  outside.events += result.events
  if (result.violations.length > 0) outside.first = result.first
}
