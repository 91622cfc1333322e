import { openMysql, type MysqlLogin } from '../../connections/index.ts'
import type { ConnectionView } from '../../contract/index.ts'
import type { Clock, QueueReading } from '../../kernel/index.ts'
import { ServerLook } from '../../monitoring/health/index.ts'
import { claimStatements } from '../../queue/store-mysql/index.ts'
import { openSqliteHealth } from '../../queue/store-sqlite/index.ts'
import { tablePlace, type TablePlace } from '../../schema-profiles/index.ts'
import { profileIn } from '../links/foreign-profile.ts'
import type { WatchedDatabase } from './database-watches.ts'

/*
 * How this app looks at a database: one connection of its own, which only reads, with a short limit for each statement, so that a look that
 * the server is slow with is over soon after its page has gone.
 */
const limits = { poolSize: 1, acquireTimeoutMs: 5_000, connectTimeoutMs: 8_000, statementTimeoutMs: 2_000 } as const

/** Plans are made for a claim of so many tasks. */
const batch = 10
/** Most tasks have this priority. */
const usualPriority = 5

export interface WatchedOptions {
  readonly clock: Clock
  /** The newest reading of the queue: its workers and types. */
  readonly reading: () => QueueReading | undefined
  /** The table that is not ours; null: our own tables. */
  readonly table: TablePlace | null
}

/** null for our own tables. Throws INVALID_INPUT for a profile that cannot be read. */
export function foreignPlace({ profile }: Pick<ConnectionView, 'profile'>): TablePlace | null {
  if (!profile) return null
  return tablePlace({ table: profile.table ?? profileIn(profile.text).table })
}

export async function openWatchedServer(
  login: MysqlLogin,
  { clock, reading, table }: WatchedOptions
): Promise<WatchedDatabase> {
  const database = await openMysql(login, { accessMode: 'read-only', clock, ...limits })
  const look = new ServerLook({
    ...{ database, clock, table },
    // Nothing of ours claims from a table that is not ours.
    statements: () => (table ? [] : claimStatements({ type: deepestType(reading()), priority: usualPriority, batch })),
    workers: () => (reading()?.workers ?? []).filter(({ status }) => status !== 'stopped')
  })
  return { look: (signal) => look.look(signal), close: () => database.close() }
}

export function openWatchedFile(
  file: string,
  { clock, reading }: Pick<WatchedOptions, 'clock' | 'reading'>
): Promise<WatchedDatabase> {
  return openSqliteHealth({ file, clock, type: () => deepestType(reading()) })
}

/** The type with the most waiting tasks: what its plan estimates is what a claim meets. */
function deepestType(reading: QueueReading | undefined): string {
  const waiting = reading?.depth.filter(({ state }) => state === 'QUEUED' || state === 'RETRY_WAIT') ?? []
  const [deepest] = [...waiting].sort((a, b) => b.count - a.count)
  return deepest?.type ?? 'any'
}
