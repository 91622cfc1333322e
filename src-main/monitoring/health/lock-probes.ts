import type { LockedTask, LockWait, OpenTransaction, SqlDatabase, SqlRow, TaskState } from '../../kernel/index.ts'
import { taskStates } from '../../kernel/index.ts'
import { digestOf } from './digest.ts'
import { tableOf, taskIdOf, taskTable } from './lock-data.ts'
import { numberOf, textOf } from './row-values.ts'
import { hostOf, tieOf, tiesOfPair, type WorkerPlace } from './worker-ties.ts'

type Database = Pick<SqlDatabase, 'execute' | 'flavour'>

/** Transactions and waits that are read at most. */
export const mostTransactions = 100
const mostWaits = 50

/** The server writes these stamps in its own zone, whatever the session's is. */
const since = (column: string): string =>
  `TIMESTAMPDIFF(SECOND, ${column}, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))`

/** Waiting ones first, then the oldest. Needs PROCESS. */
const transactions = `
SELECT t.trx_id AS trx_id, t.trx_mysql_thread_id AS session_id, t.trx_state = 'LOCK WAIT' AS waiting, ${since('t.trx_started')} AS age_s,
  ${since('t.trx_wait_started')} AS waited_s, LEFT(t.trx_query, 1024) AS statement, t.trx_isolation_level AS isolation_level,
  t.trx_rows_locked AS rows_locked, t.trx_rows_modified AS rows_modified, p.USER AS account, p.HOST AS host
FROM information_schema.INNODB_TRX AS t
LEFT JOIN information_schema.PROCESSLIST AS p ON p.ID = t.trx_mysql_thread_id
WHERE t.trx_mysql_thread_id <> CONNECTION_ID()
ORDER BY t.trx_state = 'LOCK WAIT' DESC, t.trx_started LIMIT ${mostTransactions + 1}`

/** Who waits for whom, and for which entry of which index. */
const waits = {
  mariadb: `
SELECT w.requesting_trx_id AS waiting_trx, w.blocking_trx_id AS blocking_trx, l.lock_table AS tbl, l.lock_index AS idx, l.lock_mode AS mode,
  l.lock_data AS lock_data
FROM information_schema.INNODB_LOCK_WAITS AS w
LEFT JOIN information_schema.INNODB_LOCKS AS l ON l.lock_id = w.requested_lock_id LIMIT ${mostWaits}`,
  mysql: `
SELECT w.REQUESTING_ENGINE_TRANSACTION_ID AS waiting_trx, w.BLOCKING_ENGINE_TRANSACTION_ID AS blocking_trx, l.OBJECT_NAME AS tbl,
  l.INDEX_NAME AS idx, l.LOCK_MODE AS mode, l.LOCK_DATA AS lock_data
FROM performance_schema.data_lock_waits AS w
JOIN performance_schema.data_locks AS l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID LIMIT ${mostWaits}`
} as const

export interface SeenTransaction {
  readonly id: string
  readonly waitedMs: number | null
  readonly transaction: OpenTransaction
}

export interface TieFacts {
  readonly workers: readonly WorkerPlace[]
  readonly serverHost: string | null
  /** The rows behind locks on our tables may be looked up. */
  readonly findsTasks: boolean
}

/** At most `mostTransactions` and one more, which says that there are more. */
export async function readTransactions(database: Database, facts: TieFacts): Promise<SeenTransaction[]> {
  return (await database.execute(transactions)).rows.map((row) => toTransaction(row, facts))
}

function toTransaction(row: SqlRow, { workers, serverHost }: TieFacts): SeenTransaction {
  const statement = textOf(row, 'statement')
  const host = hostOf(textOf(row, 'host'))
  const waited = numberOf(row, 'waited_s')
  return {
    id: textOf(row, 'trx_id') ?? '',
    waitedMs: waited === null ? null : Math.max(0, waited) * 1000,
    transaction: {
      sessionId: textOf(row, 'session_id') ?? '',
      account: textOf(row, 'account'),
      host,
      ageMs: Math.max(0, numberOf(row, 'age_s') ?? 0) * 1000,
      waiting: numberOf(row, 'waiting') === 1,
      idle: statement === null,
      isolation: textOf(row, 'isolation_level'),
      rowsLocked: numberOf(row, 'rows_locked') ?? 0,
      rowsChanged: numberOf(row, 'rows_modified') ?? 0,
      statement: statement === null ? null : digestOf(statement),
      ...tieOf({ host, serverHost, leaseHolder: null }, workers)
    }
  }
}

/** Asks only when a transaction waits: most of the time none does. */
export async function readWaits(
  database: Database,
  seen: readonly SeenTransaction[],
  facts: TieFacts
): Promise<LockWait[]> {
  if (!seen.some(({ transaction }) => transaction.waiting)) return []
  const { rows } = await database.execute(waits[database.flavour])
  const found = rows.map((row) => ({
    row,
    index: textOf(row, 'idx')?.replaceAll('`', '') ?? null,
    table: tableOf(textOf(row, 'tbl') ?? '')
  }))
  const idOf = ({ row, index, table }: (typeof found)[number]): string | null =>
    facts.findsTasks && table === taskTable ? taskIdOf(index, textOf(row, 'lock_data')) : null
  const tasks = await readTasks(
    database,
    found.flatMap((wait) => idOf(wait) ?? [])
  )
  const byId = new Map(seen.map((one) => [one.id, one]))
  return found.flatMap((wait) => {
    const waiting = byId.get(textOf(wait.row, 'waiting_trx') ?? '')
    const blocking = byId.get(textOf(wait.row, 'blocking_trx') ?? '')
    // It came or went between the two looks.
    if (!waiting || !blocking) return []
    const id = idOf(wait)
    const task = id === null ? null : (tasks.get(id) ?? unknownTask(id))
    const hosts = [waiting.transaction.host, blocking.transaction.host] as const
    const tieFacts = { serverHost: facts.serverHost, leaseHolder: task?.workerId ?? null }
    const [waitingTie, blockingTie] = tiesOfPair(hosts, tieFacts, facts.workers)
    return [
      {
        waiting: { ...waiting.transaction, ...waitingTie },
        blocking: { ...blocking.transaction, ...blockingTie },
        waitedMs: waiting.waitedMs,
        table: wait.table === '' ? null : wait.table,
        index: wait.index,
        mode: textOf(wait.row, 'mode'),
        task
      }
    ]
  })
}

export const unknownTask = (taskId: string): LockedTask => ({ taskId, type: null, state: null, workerId: null })

/** What the rows say now, by id: at most `mostWaits` of them, each by its key and without a lock. */
export async function readTasks(database: Database, ids: readonly string[]): Promise<Map<string, LockedTask>> {
  const wanted = [...new Set(ids)].slice(0, mostWaits)
  if (wanted.length === 0) return new Map()
  const marks = wanted.map(() => '?').join(', ')
  const sql = `SELECT id, type, state, worker_id FROM ${taskTable} WHERE id IN (${marks}) LIMIT ${mostWaits}`
  const { rows } = await database.execute(sql, wanted.map(BigInt))
  const tasks = rows.map((row): [string, LockedTask] => {
    const taskId = textOf(row, 'id') ?? ''
    const state = taskStates.find((one) => one === textOf(row, 'state')) satisfies TaskState | undefined
    return [taskId, { taskId, type: textOf(row, 'type'), state: state ?? null, workerId: textOf(row, 'worker_id') }]
  })
  return new Map(tasks)
}
