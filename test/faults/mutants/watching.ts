import { AppError, type SqlDatabase, type SqlRunner } from '../../../src-main/kernel/index.ts'

/*
 * Databases that do something before or after a statement of a transaction: the barriers of races that are played step by step. A statement
 * is known by a piece of its text; a piece that is never met makes the test that waits for it fail.
 */

type Step = () => Promise<void>

interface WatchOptions {
  /** At each such statement; otherwise at the first one. */
  readonly always?: boolean
}

export function afterStatement(
  database: SqlDatabase,
  piece: string,
  step: Step,
  options: WatchOptions = {}
): SqlDatabase {
  const meets = meeting(piece, options)
  return watching(database, async (runner, sql, values) => {
    const result = await runner.execute(sql, values)
    if (meets(sql)) await step()
    return result
  })
}

export function beforeStatement(
  database: SqlDatabase,
  piece: string,
  step: Step,
  options: WatchOptions = {}
): SqlDatabase {
  const meets = meeting(piece, options)
  return watching(database, async (runner, sql, values) => {
    if (meets(sql)) await step()
    return runner.execute(sql, values)
  })
}

/** Answers statements with this piece as a server that does not know it (1064), inside and outside of transactions. */
export function refusing(database: SqlDatabase, piece: string): SqlDatabase {
  const execute = (
    runner: SqlRunner,
    ...[sql, values]: Parameters<SqlRunner['execute']>
  ): ReturnType<SqlRunner['execute']> =>
    sql.includes(piece)
      ? Promise.reject(
          new AppError('SQL_FAILED', 'operational', 'The server refused the statement.', { details: { errno: 1064 } })
        )
      : runner.execute(sql, values)
  return { ...watching(database, execute), execute: (sql, values) => execute(database, sql, values) }
}

function meeting(piece: string, { always = false }: WatchOptions): (sql: string) => boolean {
  let met = false
  return (sql) => {
    if (!sql.includes(piece) || (met && !always)) return false
    met = true
    return true
  }
}

type Send = (runner: SqlRunner, ...call: Parameters<SqlRunner['execute']>) => ReturnType<SqlRunner['execute']>

/** Every statement of a transaction goes through `send`. */
export function watching(database: SqlDatabase, send: Send): SqlDatabase {
  return {
    flavour: database.flavour,
    serverVersion: database.serverVersion,
    execute: (sql, values) => database.execute(sql, values),
    transaction: (work, options) =>
      database.transaction((runner) => work({ execute: (sql, values) => send(runner, sql, values) }), options),
    close: () => database.close()
  }
}
