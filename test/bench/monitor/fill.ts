import type { SqlDatabase } from '../../../src-main/kernel/index.ts'
import { tenThousand } from '../numbers.ts'

/*
 * Tables of any size in bearable time: rows are made by the server from numbers, into tables without secondary indexes, which are then built
 * from sorted rows, all at once.
 */

export interface Filling {
  readonly rows: number
  /** Tasks that wait or run, the newest ones. */
  readonly live: number
}

/** The last minutes are equally busy at every size, so that a tick differs by the table alone: so many tasks have ended in them. */
export const recent = { minutes: 10, tasks: 2_000 } as const

export const chunk = 500_000

export async function fill(sql: SqlDatabase, { rows, live }: Filling): Promise<void> {
  const restore = [await withoutIndexes(sql, 'taskdeck_task'), await withoutIndexes(sql, 'taskdeck_attempt')]
  const old = rows - live - recent.tasks
  for (let from = 1; from <= old; from += chunk) await fillPart(sql, { rows, live }, { from, upTo: old })
  for (const statement of restore) await sql.execute(statement)
  // Last, since all of it takes a while: what is recent must still be so when it is looked at.
  await fillPart(sql, { rows, live }, { from: old + 1, upTo: rows })
  await sql.execute('ANALYZE TABLE taskdeck_task, taskdeck_attempt')
}

/** More waiting tasks in the table as it is, all due. */
export async function addWaiting(sql: SqlDatabase, count: number): Promise<void> {
  for (let from = 0; from < count; from += chunk) {
    await sql.execute(
      `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload)
       SELECT CONCAT('type-', i % 8), 'QUEUED', 5, NOW(6) - INTERVAL 20 MINUTE, NOW(6) - INTERVAL 20 MINUTE, NOW(6), 'bench', '', REPEAT(CHAR(0), 32), '{}'
       FROM (${numbers(from)}) AS n WHERE i < ${count}`
    )
  }
  await sql.execute('ANALYZE TABLE taskdeck_task')
}

/** Integers from `from` on, as `i`. */
export const numbers = (from: number): string =>
  `SELECT ${from} + a.n * 50 + b.d AS i FROM (${tenThousand}) AS a
   CROSS JOIN (${Array.from({ length: 50 }, (_, d) => `SELECT ${d} AS d`).join(' UNION ALL ')}) AS b`

interface Part {
  readonly from: number
  /** At most `chunk` rows of it are made. */
  readonly upTo: number
}

async function fillPart(sql: SqlDatabase, filling: Filling, part: Part): Promise<void> {
  await sql.execute(tasks(filling, part))
  await sql.execute(attempts, [part.from, Math.min(part.upTo, part.from + chunk - 1)])
}

function tasks({ rows, live }: Filling, { from, upTo }: Part): string {
  const isLive = `i > ${rows - live}`
  const isRecent = `i > ${rows - live - recent.tasks}`
  const ageSeconds = `CASE WHEN ${isLive} THEN ${recent.minutes * 60}
    WHEN ${isRecent} THEN ${recent.minutes * 60} * (${rows - live} - i) / ${recent.tasks}
    ELSE ${recent.minutes * 60} + 30 * 86400 * (${rows} - i) / ${rows} END`
  return `
    INSERT INTO taskdeck_task (id, type, state, priority, run_at, created_at, state_since, finished_at, owner, title, payload_hash, payload,
      max_attempts, retry_policy, attempt, attempts_used, started_at, due_at, lease_until, worker_id)
    SELECT i, CONCAT('type-', i % 8),
      CASE WHEN ${isLive} THEN ELT(1 + i % 3, 'QUEUED', 'RETRY_WAIT', 'RUNNING') ELSE IF(i % 40 = 1, 'FAILED', 'SUCCESS') END,
      5, at, at, at, IF(${isLive}, NULL, at), 'bench', '', REPEAT(CHAR(0), 32), '{}', 5, '{"kind":"list","delaysMs":[1000]}', 1, 1, at, at,
      IF(${isLive} AND i % 3 = 2, NOW(6) + INTERVAL 1 DAY, NULL), NULL
    FROM (SELECT i, NOW(6) - INTERVAL ${ageSeconds} SECOND AS at FROM (${numbers(from)}) AS n WHERE i <= ${upTo}) AS made`
}

const attempts = `
  INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
  SELECT id, 1, type, 'bench', due_at, started_at, finished_at, state FROM taskdeck_task WHERE id BETWEEN ? AND ? AND finished_at IS NOT NULL`

/** Drops a table's secondary indexes; resolves to the statement that makes them again. */
async function withoutIndexes(sql: SqlDatabase, table: string): Promise<string> {
  const { rows } = await sql.execute(`SHOW CREATE TABLE ${table}`)
  const lines = String(rows[0]?.['Create Table']).split('\n')
  const keys = lines.map((line) => line.trim().replace(/,$/, '')).filter((line) => /^(UNIQUE )?KEY /.test(line))
  const names = keys.map((key) => /KEY (`\w+`)/.exec(key)?.[1] ?? '')
  await sql.execute(`ALTER TABLE ${table} ${names.map((name) => `DROP INDEX ${name}`).join(', ')}`)
  return `ALTER TABLE ${table} ${keys.map((key) => `ADD ${key}`).join(', ')}`
}
