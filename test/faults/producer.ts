import type { Connection } from 'mysql2/promise'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import {
  newTask,
  systemClock,
  type NewTask,
  type RetryPolicy,
  type SqlDatabase,
  type TaskState
} from '../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import type { SeededRandom } from './seeded-random.ts'
import { TcpProxy } from './tcp-proxy.ts'

/** Which of the tasks are made to hurt; the rest is plain work. */
export interface Mix {
  /** F1: the process is killed at a named point. */
  readonly deaths: boolean
  /** F2: the handler's thread ends. */
  readonly crashes: boolean
  /** F11: submitted twice, settled twice. */
  readonly duplicates: boolean
  /** F12 */
  readonly poison: boolean
}

/** In turn, so that a short run has all of them. */
export const deathPoints = ['claimed', 'handler', 'effect', 'ending', 'ended'] as const
export const crashes = ['exit', 'spin', 'heap'] as const
const policies: readonly RetryPolicy[] = [
  { kind: 'list', delaysMs: [100] },
  { kind: 'exponential', baseMs: 50, capMs: 400, jitter: 0.2 }
]
/** Of these no more than a few run at once; see world.ts. */
export const limitedType = 'limited'
/** Attempts of a task that must not be used up by the faults that are done to it. */
const enough = 1_000
/** Of each kind in one run: each costs a process or thread a start, and a long run shall not be about those alone. */
const mostDeaths = 150
/** Tasks of one call: all of them or none. */
const batchSize = 50

interface Draft {
  readonly task: NewTask
  readonly expected: readonly TaskState[] | null
}

/** Submits the run's tasks over a link of its own, and keeps what it was told. */
export class Producer {
  readonly proxy: TcpProxy
  /** Ids that came back. */
  readonly submitted: string[] = []
  /** Titles whose submission failed without an answer. */
  readonly unknown: string[] = []
  readonly expected = new Map<string, readonly TaskState[]>()
  readonly counts = { F1: 0, F2: 0, F11: 0, F12: 0 }
  /** Answers to duplicates that were no duplicates. */
  readonly wrongAnswers: string[] = []
  private readonly store: TaskStore
  private readonly database: SqlDatabase
  private readonly random: SeededRandom
  private readonly mix: Mix
  private made = 0

  private constructor(parts: {
    proxy: TcpProxy
    store: TaskStore
    database: SqlDatabase
    random: SeededRandom
    mix: Mix
  }) {
    this.proxy = parts.proxy
    this.store = parts.store
    this.database = parts.database
    this.random = parts.random
    this.mix = parts.mix
  }

  static async open(url: string, random: SeededRandom, mix: Mix): Promise<Producer> {
    const login = parseMysqlUrl(url)
    const proxy = await TcpProxy.to(login)
    const options = { accessMode: 'read-write', poolSize: 2, acquireTimeoutMs: 5_000, connectTimeoutMs: 5_000 } as const
    const limits = { statementTimeoutMs: 8_000, clock: systemClock }
    const database = await openMysql({ ...login, port: proxy.port }, { ...options, ...limits })
    const store = await openMysqlStore({ database, clock: systemClock })
    return new Producer({ proxy, store, database, random, mix })
  }

  /** Plain tasks and, by chance, ones that hurt. */
  async submit(count: number): Promise<void> {
    for (let left = count; left > 0; left -= batchSize) {
      const drafts = Array.from({ length: Math.min(batchSize, left) }, () => this.draft())
      await this.deliver(drafts)
    }
  }

  private async deliver(drafts: readonly Draft[]): Promise<void> {
    for (const { task, expected } of drafts) if (expected) this.expected.set(task.title, expected)
    const tasks = drafts.map(({ task }) => task)
    const ids = await this.store.submit(tasks).then(
      (results) => results.map(({ taskId }) => taskId),
      () => undefined
    )
    if (!ids) {
      this.unknown.push(...tasks.map(({ title }) => title))
      return
    }
    this.submitted.push(...ids)
    if (!this.mix.duplicates || this.random.next() > 0.3) return
    const keyed = tasks.filter(({ idempotencyKey }) => idempotencyKey !== null)
    const again = await this.store.submit(keyed).catch(() => [])
    this.counts.F11 += again.length
    for (const [index, { status, taskId }] of again.entries())
      if (status !== 'exists' || taskId !== ids[tasks.indexOf(keyed[index] as NewTask)])
        this.wrongAnswers.push(`key of ${keyed[index]?.title}: ${status} ${taskId}`)
  }

  private draft(): Draft {
    const title = `n${++this.made}`
    const chance = this.random.next()
    const hurt = this.hurt(title, chance)
    if (hurt) return hurt
    const payload = {
      title,
      sleepMs: this.random.below(20),
      ...(this.mix.duplicates && chance > 0.8 && { twice: true })
    }
    if ('twice' in payload) this.counts.F11++
    return { task: this.task(title, JSON.stringify(payload)), expected: null }
  }

  /** About one in forty of each kind, of deaths a quarter of that; deaths and crashes at fixed places, which chance could leave out. */
  private hurt(title: string, chance: number): Draft | undefined {
    const share = 1 / 40
    if (this.mix.deaths && this.isDeathDue()) {
      const dieAt = deathPoints[this.counts.F1++ % deathPoints.length]
      return { task: this.task(title, JSON.stringify({ title, sleepMs: 5, dieAt })), expected: null }
    }
    if (this.mix.crashes && this.made % 40 === 10 && this.counts.F2 < mostDeaths) {
      const crash = crashes[this.counts.F2++ % crashes.length]
      const always = this.random.next() < 0.2
      const payload = { title, sleepMs: 1, crash, ...(always && { crashAlways: true }) }
      const limits = { timeoutMs: 500, ...(always && { maxAttempts: 2 }) }
      return { task: this.task(title, JSON.stringify(payload), limits), expected: always ? ['FAILED'] : null }
    }
    if (this.mix.poison && chance > 2 * share && chance < 3 * share) {
      this.counts.F12++
      return { task: this.task(title, this.random.pick(wrongPayloads) ?? '1'), expected: ['FAILED'] }
    }
    return undefined
  }

  /**
   * The first of each point among the first 150 tasks, which is what a short run is sure to have, and none beside a crash, which would
   * have to wait for another process. After them one in 161: of all types, owners and priorities in turn.
   */
  private isDeathDue(): boolean {
    const { F1: deaths } = this.counts
    if (deaths >= mostDeaths) return false
    return deaths < deathPoints.length ? this.made % 25 === 19 : this.made % 161 === 19
  }

  private task(title: string, payload: string, more: { timeoutMs?: number; maxAttempts?: number } = {}): NewTask {
    return newTask.parse({
      type: this.made % 5 === 0 ? limitedType : 'ledger',
      title,
      payload,
      owner: `o${this.made % 3}`,
      priority: this.made % 4 === 0 ? 2 : 5,
      idempotencyKey: this.made % 2 === 0 ? title : null,
      maxAttempts: enough,
      retryPolicy: policies[this.made % policies.length],
      ...more
    })
  }

  /** What no producer of ours could have written: rows past the store, as another program or a damaged column would leave them. */
  async poisonRows(admin: Connection): Promise<void> {
    for (const payload of unreadablePayloads) {
      const title = `n${++this.made}`
      const [result] = await admin.query(
        `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload, max_attempts, retry_policy)
         VALUES ('ledger', 'QUEUED', 5, NOW(6), NOW(6), NOW(6), '', ?, REPEAT('0', 32), ?, 5, ?)`,
        [title, payload, JSON.stringify(policies[0])]
      )
      this.submitted.push(String((result as { insertId: number | string }).insertId))
      this.expected.set(title, ['FAILED'])
      this.counts.F12++
    }
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.database.close()
    await this.proxy.close()
  }
}

/** JSON, but not what the handler's schema allows. */
const wrongPayloads: readonly string[] = [
  'null',
  '[]',
  '"\\ud800"',
  '{"title":1,"sleepMs":"5"}',
  '{"sleepMs":5}',
  `{"title":"x","sleepMs":${'9'.repeat(400)}}`,
  '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]',
  '{"__proto__":{"title":"x"},"constructor":1}'
]

/** No JSON at all, or none that a parser survives easily. */
const unreadablePayloads: readonly string[] = [
  '{bad',
  '',
  `{"title":"${'x'.repeat(1_000_000)}`,
  '['.repeat(10_000) + ']'.repeat(10_000),
  '\u0000',
  '{"title":"a","title":"b","sleepMs":"no"}'
]
