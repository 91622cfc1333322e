import type {
  AccountSessions,
  IndexSize,
  ReplicaChannel,
  ServerCounters,
  SqlDatabase,
  SqlRow,
  SqlValue,
  TableSize
} from '../../kernel/index.ts'
import type { TablePlace } from '../../schema-profiles/index.ts'
import { numberOf, textOf } from './row-values.ts'
import { settingNames } from './settings.ts'

/*
 * Single looks at a server. Each is one or two statements of a fixed text under the session's limit of time, and reads the server's own
 * tables only: none touches a row of the queue.
 */

type Database = Pick<SqlDatabase, 'execute' | 'flavour' | 'serverVersion'>

const listed = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

const whoAndWhere = 'SELECT CURRENT_USER() AS account, @@hostname AS host'

const counterNames = [
  'Threads_connected',
  'Threads_running',
  'Max_used_connections',
  'Innodb_row_lock_waits',
  'Innodb_row_lock_time',
  'Innodb_deadlocks',
  'Innodb_history_list_length',
  'Uptime'
] as const
const counters = `SHOW GLOBAL STATUS WHERE Variable_name IN (${listed(counterNames)})`
const mostSessions = 'SELECT @@GLOBAL.max_connections AS n'
const variables = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${listed(settingNames)})`

/** MySQL counts these here only; MariaDB has them among its counters. */
const innodbMetrics = `
SELECT NAME AS name, \`COUNT\` AS n FROM information_schema.INNODB_METRICS
WHERE NAME IN ('trx_rseg_history_len', 'lock_deadlocks') LIMIT 10`

const accounts = `
SELECT USER AS account, COUNT(*) AS sessions, SUM(COMMAND NOT IN ('Sleep', 'Daemon', 'Binlog Dump')) AS active
FROM information_schema.PROCESSLIST WHERE USER NOT IN ('system user', 'event_scheduler')
GROUP BY USER ORDER BY sessions DESC, account LIMIT 20`

/** Rows about our tables, or about the one that is not ours. */
function whichTables(schema: string, name: string, place: TablePlace | null): { sql: string; values: SqlValue[] } {
  if (!place) return { sql: `${schema} = DATABASE() AND ${name} LIKE 'taskdeck\\_%'`, values: [] }
  return { sql: `${schema} = COALESCE(?, DATABASE()) AND ${name} = ?`, values: [place.schema, place.name] }
}
const tables = (which: string): string => `
SELECT TABLE_NAME AS name, TABLE_ROWS AS n, DATA_LENGTH AS data_bytes, INDEX_LENGTH AS index_bytes, DATA_FREE AS free_bytes
FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND ${which}
ORDER BY DATA_LENGTH + INDEX_LENGTH DESC LIMIT 50`
const indexes = (which: string): string => `
SELECT table_name AS tbl, index_name AS name, stat_value * @@innodb_page_size AS bytes FROM mysql.innodb_index_stats
WHERE ${which} AND stat_name = 'size' ORDER BY bytes DESC LIMIT 100`

async function rowsOf(database: Database, sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
  return (await database.execute(sql, values)).rows
}

/** The server's lists of names and values, by lower-case name. */
async function namedValues(database: Database, sql: string): Promise<Map<string, string>> {
  const rows = await rowsOf(database, sql)
  return new Map(rows.map((row) => [(textOf(row, 'Variable_name') ?? '').toLowerCase(), textOf(row, 'Value') ?? '']))
}

export interface WhoAndWhere {
  /** As grants name it: `taskdeck@%`. */
  readonly account: string | null
  /** The server's own name. */
  readonly host: string | null
}

export async function readWhoAndWhere(database: Database): Promise<WhoAndWhere> {
  const [row = {}] = await rowsOf(database, whoAndWhere)
  return { account: textOf(row, 'account'), host: textOf(row, 'host') }
}

/** Needs no right. Also what MariaDB says of old row versions. */
export async function readCounters(
  database: Database
): Promise<{ readonly counters: ServerCounters; readonly unpurged: number | null }> {
  const found = await namedValues(database, counters)
  const [limit = {}] = await rowsOf(database, mostSessions)
  const of = (name: (typeof counterNames)[number]): number | null =>
    numberOf({ value: found.get(name.toLowerCase()) ?? null }, 'value')
  const uptime = of('Uptime')
  return {
    counters: {
      sessions: of('Threads_connected') ?? 0,
      mostSessions: numberOf(limit, 'n') ?? 0,
      peakSessions: of('Max_used_connections'),
      running: of('Threads_running'),
      rowLockWaits: of('Innodb_row_lock_waits'),
      rowLockTimeMs: of('Innodb_row_lock_time'),
      deadlocks: of('Innodb_deadlocks'),
      uptimeMs: uptime === null ? null : uptime * 1000
    },
    unpurged: of('Innodb_history_list_length')
  }
}

/** Needs PROCESS. */
export async function readMetrics(
  database: Database
): Promise<{ readonly unpurged: number | null; readonly deadlocks: number | null }> {
  const rows = await rowsOf(database, innodbMetrics)
  const of = (name: string): number | null => {
    const row = rows.find((one) => textOf(one, 'name') === name)
    return row ? numberOf(row, 'n') : null
  }
  return { unpurged: of('trx_rseg_history_len'), deadlocks: of('lock_deadlocks') }
}

export const readVariables = (database: Database): Promise<Map<string, string>> => namedValues(database, variables)

/** Without PROCESS the account sees its own sessions only. */
export async function readAccounts(database: Database): Promise<AccountSessions[]> {
  return (await rowsOf(database, accounts)).map((row) => ({
    account: textOf(row, 'account') ?? '',
    sessions: numberOf(row, 'sessions') ?? 0,
    active: numberOf(row, 'active') ?? 0
  }))
}

/** By the server's statistics; those of MySQL may be a day old (information_schema_stats_expiry). */
export async function readTables(database: Database, place: TablePlace | null): Promise<TableSize[]> {
  const { sql, values } = whichTables('TABLE_SCHEMA', 'TABLE_NAME', place)
  return (await rowsOf(database, tables(sql), values)).map((row) => ({
    name: textOf(row, 'name') ?? '',
    rows: numberOf(row, 'n'),
    dataBytes: numberOf(row, 'data_bytes') ?? 0,
    indexBytes: numberOf(row, 'index_bytes') ?? 0,
    freeBytes: numberOf(row, 'free_bytes')
  }))
}

/** Needs SELECT on mysql.innodb_index_stats. PRIMARY holds the rows themselves. */
export async function readIndexes(database: Database, place: TablePlace | null): Promise<IndexSize[]> {
  const { sql, values } = whichTables('database_name', 'table_name', place)
  return (await rowsOf(database, indexes(sql), values)).map((row) => ({
    table: textOf(row, 'tbl') ?? '',
    name: textOf(row, 'name') ?? '',
    bytes: numberOf(row, 'bytes') ?? 0
  }))
}

/** MySQL before 8.0.22 knows the old words only, 8.4 the new ones only; MariaDB's list has all sources. */
export function replicaStatement({ flavour, serverVersion }: Pick<Database, 'flavour' | 'serverVersion'>): string {
  if (flavour === 'mariadb') return 'SHOW ALL SLAVES STATUS'
  const [major = 0, minor = 0, patch = 0] = serverVersion.split(/[.-]/).map(Number)
  const isOld = major < 8 || (major === 8 && minor === 0 && patch < 22)
  return isOld ? 'SHOW SLAVE STATUS' : 'SHOW REPLICA STATUS'
}

/** Of an error only the number is taken: its text quotes statements. */
export async function readReplicas(database: Database): Promise<ReplicaChannel[]> {
  const rows = await rowsOf(database, replicaStatement(database))
  return rows.slice(0, 20).map((row) => {
    const of = (...names: string[]): string | null =>
      names.map((name) => textOf(row, name)).find((value) => value !== null) ?? null
    const lag = of('Seconds_Behind_Source', 'Seconds_Behind_Master')
    return {
      name: of('Channel_Name', 'Connection_name') ?? '',
      lagMs: lag === null ? null : Number(lag) * 1000,
      reads: of('Replica_IO_Running', 'Slave_IO_Running') === 'Yes',
      applies: of('Replica_SQL_Running', 'Slave_SQL_Running') === 'Yes',
      errno: Number(of('Last_SQL_Errno', 'Last_Errno') ?? 0) || Number(of('Last_IO_Errno') ?? 0)
    }
  })
}

/** The whole report; needs PROCESS. */
export async function readInnodbStatus(database: Database): Promise<string> {
  const [row = {}] = await rowsOf(database, 'SHOW ENGINE INNODB STATUS')
  return textOf(row, 'Status') ?? ''
}
