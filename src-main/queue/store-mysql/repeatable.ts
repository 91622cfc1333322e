import type { SqlDatabase, SqlRunner, SqlValue, TransactionOptions } from '../../kernel/index.ts'

/** For work that may be done twice: after a lost reply to its COMMIT it is done again, without asking whether it was committed. */
export const repeatable: TransactionOptions = { readBack: () => Promise.resolve(undefined) }

/** Whether a statement that may be made twice met a row, also when only the first time did. `before` is done first, in the same transaction. */
export async function anyAffected(
  database: SqlDatabase,
  sql: string,
  values: readonly SqlValue[],
  before?: (runner: SqlRunner) => Promise<void>
): Promise<boolean> {
  let met = false
  await database.transaction(async (runner) => {
    await before?.(runner)
    met = (await runner.execute(sql, values)).affectedRows > 0 || met
  }, repeatable)
  return met
}
