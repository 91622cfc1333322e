import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'

/*
 * The ceiling for `bench claim`: a hand-written loop that makes the same durable writes as the engine (claim, attempt row,
 * completion) on the same tables with the same driver, and nothing else: no fence, no retry, no validation, no result.
 */
export class RawLoop {
  private readonly pool: Pool

  constructor(url: string) {
    this.pool = mysql.createPool({ uri: url, connectionLimit: 1, supportBigNumbers: true, bigNumberStrings: true })
  }

  /** Claims and completes until nothing is left; returns how many. */
  async drain(type: string, batch: number): Promise<number> {
    let done = 0
    for (;;) {
      const ids = await this.claim(type, batch)
      if (ids.length === 0) return done
      await this.complete(ids)
      done += ids.length
    }
  }

  private async claim(type: string, batch: number): Promise<string[]> {
    const connection = await this.pool.getConnection()
    try {
      await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
      await connection.beginTransaction()
      const [rows] = await connection.execute<RowDataPacket[]>(
        `SELECT id FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
         WHERE claim_rank = 5 AND type = ? AND run_at <= NOW(6) ORDER BY claim_rank, type, run_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED`,
        [type]
      )
      const ids = rows.map((row) => String(row['id']))
      if (ids.length > 0)
        await connection.query(
          `UPDATE taskdeck_task SET state = 'RUNNING', attempt = attempt + 1, attempts_used = attempts_used + 1, worker_id = 'raw', due_at = run_at,
             started_at = NOW(6), state_since = NOW(6), lease_until = NOW(6) + INTERVAL 30 SECOND WHERE id IN (${ids.join(',')})`
        )
      await connection.commit()
      return ids
    } finally {
      connection.release()
    }
  }

  private async complete(ids: readonly string[]): Promise<void> {
    const connection = await this.pool.getConnection()
    try {
      await connection.beginTransaction()
      await connection.query(
        `INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
         SELECT id, attempt, type, worker_id, due_at, started_at, NOW(6), 'SUCCESS' FROM taskdeck_task WHERE id IN (${ids.join(',')})`
      )
      await connection.query(
        `UPDATE taskdeck_task SET state = 'SUCCESS', state_since = NOW(6), finished_at = NOW(6), worker_id = NULL, lease_until = NULL, result = '{}'
         WHERE id IN (${ids.join(',')})`
      )
      await connection.commit()
    } finally {
      connection.release()
    }
  }

  async close(): Promise<void> {
    await this.pool.end()
  }
}
