import { setTimeout as delay } from 'node:timers/promises'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'

/*
 * The ceiling for `bench claim`: hand-written loops that make the same durable writes as the engine (the task's row, claim, attempt
 * row, completion) on the same tables with the same driver, and nothing else: no fence, no retry, no validation, no thread, no lost reply.
 */

const idleMs = 2

export interface RawTask {
  readonly type: string
  readonly payload: string
  readonly result: string
}

/** Writes tasks as `store.submit` does, and nothing else. */
export async function rawSubmit(connection: Connection, { type, payload }: RawTask, count: number): Promise<void> {
  const row = [type, 'QUEUED', 5, '', '', Buffer.alloc(32, 1), payload, 0, 0]
  const marks = Array.from({ length: count }, () => '(?, ?, ?, NOW(6), NOW(6), NOW(6), ?, ?, ?, ?, ?, ?)').join(', ')
  await connection.query(
    `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload, held, waits_for)
     VALUES ${marks}`,
    Array.from({ length: count }, () => row).flat()
  )
}

/** Claims and completes on one connection, one batch after the other. */
export class RawLoop {
  private readonly connection: Connection
  private readonly task: RawTask

  private constructor(connection: Connection, task: RawTask) {
    this.connection = connection
    this.task = task
  }

  static async open(url: string, task: RawTask): Promise<RawLoop> {
    const connection = await mysql.createConnection({ uri: url, supportBigNumbers: true, bigNumberStrings: true })
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
    return new RawLoop(connection, task)
  }

  /** Until `signal` aborts; `done` is told how many after each batch. */
  async run(batch: number, signal: AbortSignal, done: (count: number) => void): Promise<void> {
    while (!signal.aborted) {
      const ids = await this.claim(batch)
      if (ids.length === 0) {
        await delay(idleMs)
        continue
      }
      await this.complete(ids)
      done(ids.length)
    }
  }

  async close(): Promise<void> {
    await this.connection.end()
  }

  private async claim(batch: number): Promise<string[]> {
    const { connection } = this
    await connection.beginTransaction()
    // The payload too: whoever runs a task needs it.
    const [rows] = await connection.execute<RowDataPacket[]>(
      `SELECT id, payload, attempt FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
       WHERE claim_rank = 5 AND type = ? AND run_at <= NOW(6) ORDER BY run_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED`,
      [this.task.type]
    )
    const ids = rows.map((row) => String(row['id']))
    if (ids.length > 0)
      await connection.query(
        `UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET state = 'RUNNING', attempt = attempt + 1, attempts_used = attempts_used + 1, worker_id = 'raw',
           claim_token = REPEAT('t', 16), due_at = run_at, started_at = NOW(6), state_since = NOW(6), lease_until = NOW(6) + INTERVAL 30 SECOND,
           lease_ms = 30000 WHERE id IN (${ids.join(',')})`
      )
    await connection.commit()
    return ids
  }

  private async complete(ids: readonly string[]): Promise<void> {
    const { connection } = this
    await connection.beginTransaction()
    await connection.query(
      `INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
       SELECT id, attempt, type, worker_id, due_at, started_at, NOW(6), 'SUCCESS' FROM taskdeck_task FORCE INDEX (PRIMARY) WHERE id IN (${ids.join(',')})`
    )
    await connection.query(
      `UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET state = 'SUCCESS', state_since = NOW(6), finished_at = NOW(6), lease_until = NULL, result = ?
       WHERE id IN (${ids.join(',')})`,
      [this.task.result]
    )
    await connection.commit()
  }
}
