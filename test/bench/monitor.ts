import { parseArgs } from 'node:util'
import type { SqlDatabase } from '../../src-main/kernel/index.ts'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { atMost, finish, median, type Goal } from '../support/report.ts'
import { tenThousand } from './numbers.ts'

/*
 * What one tick of monitoring costs the server at growing table sizes, beside the plain statements of the first design article
 * on the same table. The backlog is the same at each size, so that what grows is what has finished: a tick must not see it.
 */

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000,200000' },
    rounds: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false }
  }
})
const sizes = values.rows.split(',').map(Number)
const rounds = Number(values.rounds)
/** Tasks that wait or run, at every size. */
const live = 2_000

/** Counts by state and type, oldest waiting, failure rate: each reads the whole table or all of an index. */
const plainStatements = [
  'SELECT state, type, COUNT(*) AS n FROM taskdeck_task GROUP BY state, type',
  "SELECT MIN(created_at) AS oldest FROM taskdeck_task WHERE state = 'QUEUED'",
  "SELECT SUM(state = 'FAILED') / COUNT(*) AS rate FROM taskdeck_task WHERE state_since > NOW(6) - INTERVAL 5 MINUTE"
]

const server = await startPrivateMariaDb({ flushAtCommit: 2, serverOptions: ['--innodb-buffer-pool-size=2G'] })
try {
  const results = []
  for (const rows of sizes) results.push(await measure(rows))
  finish({ bench: 'monitor', rounds, results }, goalsOf(results), values.json)
} finally {
  await server.stop()
}

interface Result {
  readonly rows: number
  readonly tickMs: number
  readonly plainMs: number
  /** Rows the server read for one tick (Handler_read_* of the server). */
  readonly tickRowsRead: number
}

function goalsOf(results: readonly Result[]): Goal[] {
  const small = results[0]
  const large = results.at(-1)
  if (!small || !large || small === large) return []
  return [
    atMost(`a tick at ${large.rows} rows to one at ${small.rows}`, large.tickMs / small.tickMs, 'ratio', 3),
    atMost(`a tick to the plain statements at ${large.rows} rows`, large.tickMs / large.plainMs, 'ratio', 0.5)
  ]
}

async function measure(rows: number): Promise<Result> {
  const database = `bench_monitor_${rows}`
  await server.createDatabase(database)
  const queue = await openTestQueue(server.url(database), {
    poolSize: 2,
    statementTimeoutMs: 600_000,
    beforeOpen: (empty) => fill(empty, rows)
  })
  const { sql, store } = queue
  await store.read()
  const before = await rowsRead(sql)
  await store.read()
  const tickRowsRead = (await rowsRead(sql)) - before
  const tick: number[] = []
  const plain: number[] = []
  for (let n = 0; n < rounds; n++) {
    tick.push(await timed(() => store.read()))
    plain.push(
      await timed(async () => {
        for (const statement of plainStatements) await sql.execute(statement)
      })
    )
  }
  await queue.close()
  return { rows, tickMs: median(tick), plainMs: median(plain), tickRowsRead }
}

/** Nothing else runs on this server, so its counters are the tick's. */
async function rowsRead(sql: SqlDatabase): Promise<number> {
  const { rows } = await sql.execute("SHOW GLOBAL STATUS LIKE 'Handler_read%'")
  return rows.reduce((sum, row) => sum + Number(row['Value']), 0)
}

async function fill(sql: SqlDatabase, rows: number): Promise<void> {
  for (let from = 1; from <= rows; from += 10_000) {
    await sql.execute(
      `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, finished_at, owner, title, payload_hash, payload, max_attempts,
         retry_policy, attempt, attempts_used, started_at, due_at, lease_until, worker_id)
       SELECT CONCAT('type-', i % 8),
         CASE WHEN i > ${rows - live} THEN ELT(1 + i % 3, 'QUEUED', 'RETRY_WAIT', 'RUNNING') ELSE IF(i % 40 = 1, 'FAILED', 'SUCCESS') END,
         5, at, at, at, IF(i > ${rows - live}, NULL, at), 'bench', '', REPEAT(CHAR(0), 32), '{}', 5,
         '{"kind":"list","delaysMs":[1000]}', 1, 1, at, at, IF(i > ${rows - live} AND i % 3 = 2, at, NULL), NULL
       FROM (SELECT ${from} + n AS i, NOW(6) - INTERVAL (30 * 86400 * (${rows} - ${from} - n) / ${rows}) SECOND AS at FROM (${tenThousand}) numbers) rows_of
       WHERE i <= ${rows}`
    )
  }
  await sql.execute(
    `INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
     SELECT id, 1, type, 'bench', due_at, started_at, finished_at, state FROM taskdeck_task WHERE finished_at IS NOT NULL`
  )
  await sql.execute('ANALYZE TABLE taskdeck_task, taskdeck_attempt')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
