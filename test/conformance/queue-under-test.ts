import {
  newTask,
  type Clock,
  type AttemptError,
  type Fence,
  type NewTask,
  type NewTaskInput,
  type TaskDetail,
  type TaskState
} from '../../src-main/kernel/index.ts'
import type { ClaimedTask, Settlement, TaskStore } from '../../src-main/queue/task-store.ts'

/** What a store's own test file gives to the suite: one migrated, empty queue that only this suite uses. */
export interface ConformanceQueue {
  /** Another store on the queue, with connections of its own. The suite closes it. */
  open(clock?: Clock): Promise<TaskStore>
  /** Runs one statement past the stores. Only SQL that every dialect understands. */
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** SQL for the value of a time column moved by `ms` (may be negative). */
  shifted(column: string, ms: number): string
  /** Removes the queue. */
  close(): Promise<void>
}

const tables = [
  'task',
  'attempt',
  'log',
  'artifact',
  'worker',
  'schedule',
  'import_row',
  'dependency',
  'ending',
  'dead_letter',
  'policy',
  'gate'
] as const

/** One test's view of the queue: operations that the tests share, each through the port. */
export class QueueUnderTest {
  private readonly made: () => ConformanceQueue
  private readonly opened: TaskStore[] = []
  /** The store that most tests talk to. */
  store!: TaskStore

  /** The queue is asked for when it is used: tests are declared before it is made. */
  constructor(made: () => ConformanceQueue) {
    this.made = made
  }

  private get queue(): ConformanceQueue {
    return this.made()
  }

  async begin(): Promise<void> {
    await this.clear()
    this.store = await this.open()
  }

  async clear(): Promise<void> {
    for (const table of tables) await this.queue.sql(`DELETE FROM taskdeck_${table}`)
  }

  async end(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((store) => store.close()))
  }

  async open(clock?: Clock): Promise<TaskStore> {
    const store = await this.queue.open(clock)
    this.opened.push(store)
    return store
  }

  openMany(count: number): Promise<TaskStore[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()))
  }

  /** Submits one task and returns its id. */
  async submit(input: Partial<NewTaskInput> = {}): Promise<string> {
    const [result] = await this.store.submit([task(input)])
    return result!.taskId
  }

  /** Claims until `count` tasks came or 5 s passed: a store may look at back-dated rows only now and then. */
  async claim(count = 1, options: ClaimOptions = {}): Promise<ClaimedTask[]> {
    const { workerId = 'w1', types = ['t'], leaseMs = 60_000, store = this.store } = options
    const claimed: ClaimedTask[] = []
    for (const end = Date.now() + 5_000; claimed.length < count && Date.now() < end;) {
      const more = await store.claim({ workerId, types, leaseMs, limit: count - claimed.length })
      claimed.push(...more)
      if (more.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return claimed
  }

  /** Submits one task and claims it. */
  async running(input: Partial<NewTaskInput> = {}, workerId = 'w1'): Promise<Fence> {
    const taskId = await this.submit(input)
    const [claimed] = await this.claim(1, { workerId, types: [input.type ?? 't'] })
    if (claimed?.fence.taskId !== taskId) throw new Error(`claimed ${claimed?.fence.taskId}, not ${taskId}`)
    return claimed.fence
  }

  async settle(settlement: Settlement): Promise<TaskState | undefined> {
    return (await this.store.settle([settlement]))[0]!.state
  }

  async detail(taskId: string): Promise<TaskDetail> {
    const detail = await this.store.get(taskId)
    if (!detail) throw new Error(`no task ${taskId}`)
    return detail
  }

  async state(taskId: string): Promise<TaskState> {
    return (await this.detail(taskId)).state
  }

  /** Moves a time of one task; the only way in which the suite makes time pass. */
  async shift(taskId: string, column: 'lease_until' | 'run_at' | 'created_at', ms: number): Promise<void> {
    const value = this.queue.shifted(column, ms)
    await this.sql(`UPDATE taskdeck_task SET ${column} = ${value} WHERE id = ${taskId}`)
  }

  /** Sets the deadline a second before the task was created. */
  async passDeadline(taskId: string): Promise<void> {
    const value = this.queue.shifted('created_at', -1_000)
    await this.sql(`UPDATE taskdeck_task SET deadline_at = ${value} WHERE id = ${taskId}`)
  }

  /** Makes a task that was submitted without dependencies wait for another one, past the store. */
  async waitFor(taskId: string, parentId: string): Promise<void> {
    await this.sql(
      `INSERT INTO taskdeck_dependency (task_id, waits_for_id, after_failure, settled) VALUES (${taskId}, ${parentId}, 'FAIL', 0)`
    )
    await this.sql(`UPDATE taskdeck_task SET has_dependents = 1 WHERE id = ${parentId}`)
    await this.sql(`UPDATE taskdeck_task SET waits_for = waits_for + 1 WHERE id = ${taskId}`)
  }

  /** Runs the lease out and recovers it. */
  async loseLease(taskId: string): Promise<void> {
    await this.shift(taskId, 'lease_until', -3_600_000)
    await this.store.recover(100)
  }

  /** Recovery until nothing is left. */
  async recoverAll(store = this.store): Promise<void> {
    while ((await store.recover(100)).length > 0);
  }

  shifted(column: string, ms: number): string {
    return this.queue.shifted(column, ms)
  }

  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.queue.sql(text)
  }

  async count(table: (typeof tables)[number], where = '1 = 1'): Promise<number> {
    const [row] = await this.sql(`SELECT COUNT(*) AS n FROM taskdeck_${table} WHERE ${where}`)
    return Number(row!['n'])
  }
}

export interface ClaimOptions {
  workerId?: string
  types?: readonly string[]
  leaseMs?: number
  store?: TaskStore
}

/** A valid task; type `t` when not said otherwise. */
export function task(input: Partial<NewTaskInput> = {}): NewTask {
  return newTask.parse({ type: 't', payload: '{}', ...input })
}

export const failure: AttemptError = { code: 'E_TEST', message: 'did not work', class: 'retryable' }

/** One settlement per outcome, all with the same fence. */
export function everySettlement(fence: Fence): Settlement[] {
  return [
    { fence, outcome: 'SUCCESS', result: '{"stale":true}' },
    { fence, outcome: 'PARTIAL_SUCCESS', result: '{"stale":true}' },
    { fence, outcome: 'RETRY', error: failure, delayMs: 60_000 },
    { fence, outcome: 'FAILED', error: failure },
    { fence, outcome: 'CANCELLED' },
    { fence, outcome: 'HANDED_BACK' }
  ]
}
