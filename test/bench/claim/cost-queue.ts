import { newTask, type SqlDatabase } from '../../../src-main/kernel/index.ts'
import type { ClaimedTask, TaskStore } from '../../../src-main/queue/task-store.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../../support/open-queue.ts'
import { tenThousand } from '../numbers.ts'
import type { CostMeter } from './counted.ts'

const batch = 50
const hourMs = 3_600_000
const types = { due: 'due', blocked: 'blocked' } as const
/** Above the due tasks, so that a claim would meet it first. */
const blockedPriority = 0

/** A queue of its own with tasks that must cost a claim nothing, one call after the other, so that all are on one session and its counters are theirs. */
export class CostQueue {
  readonly sql: SqlDatabase
  readonly store: TaskStore
  private readonly queue: TestQueue

  private constructor(queue: TestQueue) {
    this.queue = queue
    this.sql = queue.sql
    this.store = queue.store
  }

  static async open(server: TestMariaDb, name: string, fill?: (queue: CostQueue) => Promise<void>): Promise<CostQueue> {
    await server.createDatabase(name)
    const queue = new CostQueue(await openTestQueue(server.url(name), { poolSize: 2, statementTimeoutMs: 600_000 }))
    await fill?.(queue)
    return queue
  }

  /** Due from the next hour on, at the same priority and of the same type as the due tasks. */
  async fillFuture(count: number): Promise<void> {
    await this.fill(count, { type: types.due, state: 'QUEUED', from: 'NOW(6) + INTERVAL 1 HOUR', priority: 5 })
  }

  async fillFinished(count: number): Promise<void> {
    await this.fill(count, { type: types.due, state: 'SUCCESS', from: 'NOW(6) - INTERVAL 40 DAY', priority: 5 })
  }

  /** A type at its limit, with `count` tasks due before all others. */
  async block(count: number): Promise<void> {
    await this.fill(count, {
      type: types.blocked,
      state: 'QUEUED',
      from: 'NOW(6) - INTERVAL 40 DAY',
      priority: blockedPriority
    })
    await this.store.submit([newTask.parse({ type: types.blocked, payload: '{}', priority: blockedPriority })])
    await this.store.setPolicy({ scope: 'TYPE', name: types.blocked, maxRunning: 1 })
    await this.claim(1, [types.blocked])
  }

  /** Claims of 50, each settled before the next. */
  async claims(count: number, meter: CostMeter | undefined): Promise<void> {
    await this.submit((count + 2) * batch)
    // The first looks the groups up and prepares the statements.
    await this.settle(await this.claim(batch))
    for (let n = 0; n < count; n++) {
      const claimed = await (meter ? meter.measure(() => this.claim(batch)) : this.claim(batch))
      if (claimed.length !== batch) throw new Error(`${claimed.length} of ${batch} due tasks were claimed`)
      await this.settle(claimed)
    }
  }

  /** Submits and works off. */
  async work(count: number): Promise<void> {
    await this.submit(count)
    for (;;) {
      const claimed = await this.claim(200)
      if (claimed.length === 0) return
      await this.settle(claimed)
    }
  }

  async submit(count: number): Promise<void> {
    await this.store.submit(Array.from({ length: count }, () => newTask.parse({ type: types.due, payload: '{}' })))
  }

  claim(limit: number, of: readonly string[] = Object.values(types)): Promise<ClaimedTask[]> {
    return this.store.claim({ workerId: 'bench', limit, leaseMs: hourMs, types: of })
  }

  async settle(claimed: readonly ClaimedTask[]): Promise<void> {
    await this.store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: '{}' })))
  }

  close(): Promise<void> {
    return this.queue.close()
  }

  private async fill(
    count: number,
    { type, state, from, priority }: { type: string; state: string; from: string; priority: number }
  ): Promise<void> {
    const ended = state === 'SUCCESS'
    for (let done = 0; done < count; done += 10_000)
      await this.sql.execute(
        `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, finished_at, owner, title, payload_hash, payload)
         SELECT '${type}', '${state}', ${priority}, at, NOW(6), NOW(6), IF(${ended}, NOW(6), NULL), 'bench', '', REPEAT(CHAR(0), 32), '{}'
         FROM (SELECT ${done} + n AS i, ${from} + INTERVAL (${done} + n) SECOND AS at FROM (${tenThousand}) AS numbers) AS rows_of WHERE i < ${count}`
      )
    await this.sql.execute('ANALYZE TABLE taskdeck_task')
  }
}
