import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock, type SqlDatabase } from '../../../src-main/kernel/index.ts'
import { advisedIndexes, shippedProfile, thesisTable, watchTable } from '../../support/foreign-table.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { plainCost, tickCost, wholeReading } from './cost.ts'
import { chunk, numbers, recent, type Filling } from './fill.ts'
import { backlogShare, fillingTimeoutMs, live, type TickResult } from './ticks.ts'

/*
 * The table of the first design article: as many live tasks and ended ones of the last minutes as in ours, and its own statements beside ours.
 */

/** Counts by state and type, oldest waiting, failure rate, as the article asks them. */
const plainStatements = [
  'SELECT status, task_type, COUNT(*) AS total FROM thesis_run_task GROUP BY status, task_type',
  "SELECT TIMESTAMPDIFF(SECOND, MIN(created_at), NOW()) AS oldest FROM thesis_run_task WHERE status IN ('PENDING', 'RETRYING') AND enabled = 1",
  "SELECT COUNT(CASE WHEN status = 'FAILED' THEN 1 END) / COUNT(*) AS rate FROM thesis_run_task WHERE created_at >= NOW() - INTERVAL 5 MINUTE"
]

export async function measureForeignTicks(server: TestMariaDb, rows: number, rounds: number): Promise<TickResult> {
  const url = await server.createDatabase(`bench_foreign_${rows}`)
  const profile = shippedProfile('thesis-run-task')
  const sql = await openOwner(url)
  const began = performance.now()
  await sql.execute(thesisTable)
  await fillThesis(sql, { rows, live }, advisedIndexes(profile))
  const fillSeconds = Math.round((performance.now() - began) / 1_000)
  const watched = await watchTable(url, profile)
  const tick = await tickCost(watched.read, rounds)
  const plain = await plainCost(sql, plainStatements, Math.min(rounds, 3))
  const waiting = Math.round(rows * backlogShare)
  await addPending(sql, waiting)
  const backlog = await tickCost(watched.read, rounds)
  const { depth } = await wholeReading(watched.read)
  await watched.close()
  await sql.close()
  return { rows, fillSeconds, tick, plain, backlog: { ...backlog, waiting, reported: depth } }
}

const openOwner = (url: string): Promise<SqlDatabase> =>
  openMysql(parseMysqlUrl(url), {
    accessMode: 'read-write',
    poolSize: 1,
    acquireTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: fillingTimeoutMs,
    clock: systemClock
  })

const articleIndex = 'CREATE INDEX idx_task_ready ON thesis_run_task (status, enabled, next_retry_at, created_at, id)'

/** Indexes are built from sorted rows, all at once; what is recent is made last. */
async function fillThesis(sql: SqlDatabase, filling: Filling, indexes: readonly string[]): Promise<void> {
  await sql.execute('DROP INDEX idx_task_ready ON thesis_run_task')
  const old = filling.rows - filling.live - recent.tasks
  for (let from = 1; from <= old; from += chunk) await sql.execute(thesisRows(filling, from, old))
  for (const index of [articleIndex, ...indexes]) await sql.execute(index)
  await sql.execute(thesisRows(filling, old + 1, filling.rows))
  await sql.execute('ANALYZE TABLE thesis_run_task')
}

function thesisRows({ rows, live: living }: Filling, from: number, upTo: number): string {
  const isLive = `i > ${rows - living}`
  const seconds = recent.minutes * 60
  const ageSeconds = `CASE WHEN ${isLive} THEN ${seconds}
    WHEN i > ${rows - living - recent.tasks} THEN ${seconds} * (${rows - living} - i) / ${recent.tasks}
    ELSE ${seconds} + 30 * 86400 * (${rows} - i) / ${rows} END`
  return `
    INSERT INTO thesis_run_task (id, task_type, status, payload, created_at, next_retry_at, finished_at)
    SELECT i, CONCAT('type-', i % 8),
      CASE WHEN ${isLive} THEN ELT(1 + i % 3, 'PENDING', 'RETRYING', 'RUNNING') ELSE IF(i % 40 = 1, 'FAILED', 'SUCCESS') END,
      '{}', at, IF(${isLive} AND i % 3 = 1, at, NULL), IF(${isLive}, NULL, at)
    FROM (SELECT i, UTC_TIMESTAMP() - INTERVAL ${ageSeconds} SECOND AS at FROM (${numbers(from)}) AS n WHERE i <= ${upTo}) AS made`
}

/** More waiting tasks in the table as it is, all due. */
async function addPending(sql: SqlDatabase, count: number): Promise<void> {
  for (let from = 0; from < count; from += chunk) {
    await sql.execute(
      `INSERT INTO thesis_run_task (task_type, status, payload, created_at)
       SELECT CONCAT('type-', i % 8), 'PENDING', '{}', UTC_TIMESTAMP() - INTERVAL 20 MINUTE FROM (${numbers(from)}) AS n WHERE i < ${count}`
    )
  }
  await sql.execute('ANALYZE TABLE thesis_run_task')
}
