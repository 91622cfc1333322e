import type { MysqlLogin, SchemaVerdict } from '../../connections/index.ts'
import type { Clock, SqlDatabase } from '../../kernel/index.ts'
import { createCostGuard, createForeignReader } from '../../monitoring/index.ts'
import { columnsProbe, columnsProbeValues, requireColumns, type TableProfile } from '../../schema-profiles/index.ts'
import { openDatabase } from './open-queue.ts'
import type { OpenQueue } from './queue-link.ts'

/** A table that is not ours is looked at over one session, which only reads, and by the cost guard alone. */
export async function openForeignQueue(
  login: MysqlLogin,
  profile: TableProfile,
  clock: Clock
): Promise<{ queue: OpenQueue; database: Pick<SqlDatabase, 'flavour' | 'serverVersion'> }> {
  const database = await openDatabase(login, 'read-only', { clock, use: 'monitor' })
  const read = createForeignReader(profile, { guard: createCostGuard({ database, clock }), clock })
  return { queue: { read, store: null, close: () => database.close() }, database }
}

/** What the last step of a connection test says: whether the columns fit. The table itself is not read. */
export async function foreignVerdict(database: SqlDatabase, profile: TableProfile): Promise<SchemaVerdict> {
  const { rows } = await database.execute(columnsProbe.sql, columnsProbeValues(profile))
  requireColumns(profile, rows)
  return { status: 'ok', notes: [{ code: 'profileFits', values: { table: profile.table } }], problem: null }
}
