import {
  AppError,
  newTask,
  nextState,
  type Fence,
  type NewTaskInput,
  type TaskState,
  type WorkerRequest
} from '../../../src-main/kernel/index.ts'
import { EffectivePolicies } from '../../../src-main/queue/effective-policy.ts'
import { resolveSettlement } from '../../../src-main/queue/retry.ts'
import type {
  ClaimedTask,
  ClaimRequest,
  LogEntry,
  ProgressUpdate,
  Renewal,
  Settlement,
  SettleResult,
  TaskStore,
  WorkerReport
} from '../../../src-main/queue/task-store.ts'

export interface MemoryTask {
  readonly id: string
  readonly task: ReturnType<typeof newTask.parse>
  state: TaskState
  runAt: number
  attempt: number
  attemptsUsed: number
  workerId: string | null
  leaseUntil: number
  leaseMs: number
  checkpoint: string | null
  settlements: Settlement[]
}

/** Nothing tells a test that a thread has started or a file was written. */
const lookEveryMs = 20

type Method = 'claim' | 'renew' | 'settle' | 'saveProgress' | 'appendLog' | 'reportWorker' | 'runSchedules' | 'recover'

/** A TaskStore in memory for tests of the pool: the parts that a worker uses, with faults on demand. */
export class MemoryStore implements Pick<TaskStore, Method> {
  readonly tasks = new Map<string, MemoryTask>()
  readonly reports: WorkerReport[] = []
  readonly lines: LogEntry[] = []
  readonly claims: { limit: number; got: number }[] = []
  /** The most leases that one worker held at any moment. */
  mostLeases = 0
  renewals = 0
  /** What the next reports answer. */
  request: WorkerRequest | null = null
  /** Throws instead of answering while it is set. */
  readonly failing = new Map<Method, AppError>()
  private readonly watchers = new Set<() => void>()

  submit(...tasks: NewTaskInput[]): string[] {
    return tasks.map((input) => {
      const id = String(this.tasks.size + 1)
      this.tasks.set(id, {
        id,
        task: newTask.parse(input),
        state: 'QUEUED',
        runAt: performance.now(),
        attempt: 0,
        attemptsUsed: 0,
        workerId: null,
        leaseUntil: 0,
        leaseMs: 0,
        checkpoint: null,
        settlements: []
      })
      return id
    })
  }

  claim({ workerId, limit, leaseMs, types }: ClaimRequest): Promise<ClaimedTask[]> {
    return this.answer('claim', () => {
      const now = performance.now()
      const due = [...this.tasks.values()].filter(
        (row) => nextState(row.state, 'claim') && row.runAt <= now && types.includes(row.task.type)
      )
      const taken = due.slice(0, limit)
      for (const row of taken) {
        Object.assign(row, { state: 'RUNNING', workerId, leaseMs, leaseUntil: now + leaseMs })
        row.attempt++
        row.attemptsUsed++
      }
      this.claims.push({ limit, got: taken.length })
      const held = [...this.tasks.values()].filter((row) => row.workerId === workerId).length
      this.mostLeases = Math.max(this.mostLeases, held)
      return taken.map((row) => claimed(row, workerId))
    })
  }

  renew(leases: readonly Fence[]): Promise<Renewal> {
    return this.answer('renew', () => {
      this.renewals++
      const rows = leases.map((fence) => ({ fence, row: this.held(fence) }))
      for (const { row } of rows) if (row) row.leaseUntil = performance.now() + row.leaseMs
      return {
        renewed: rows.filter(({ row }) => row).map(({ fence }) => fence),
        lost: rows.filter(({ row }) => !row).map(({ fence }) => fence),
        cancelRequested: rows.filter(({ row }) => row?.state === 'CANCEL_REQUESTED').map(({ fence }) => fence)
      }
    })
  }

  saveProgress(updates: readonly ProgressUpdate[]): Promise<Fence[]> {
    return this.answer('saveProgress', () => {
      for (const { fence, checkpoint } of updates) {
        const row = this.held(fence)
        if (row && checkpoint !== undefined) row.checkpoint = checkpoint
      }
      return updates.filter(({ fence }) => !this.held(fence)).map(({ fence }) => fence)
    })
  }

  appendLog(entries: readonly LogEntry[]): Promise<void> {
    return this.answer('appendLog', () => void this.lines.push(...entries.filter(({ fence }) => this.held(fence))))
  }

  settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    return this.answer('settle', () => settlements.map((settlement) => this.settleOne(settlement)))
  }

  reportWorker(report: WorkerReport): Promise<WorkerRequest | null> {
    return this.answer('reportWorker', () => {
      this.reports.push(report)
      return this.request
    })
  }

  runSchedules(): Promise<{ submitted: string[]; nextInMs: null }> {
    return this.answer('runSchedules', () => ({ submitted: [], nextInMs: null }))
  }

  recover(): Promise<[]> {
    return this.answer('recover', () => [] as [])
  }

  /** As if another process had taken the task over. */
  steal(id: string): void {
    const row = this.row(id)
    row.attempt++
    row.workerId = 'someone-else'
    this.changed()
  }

  row(id: string): MemoryTask {
    const row = this.tasks.get(id)
    if (!row) throw new Error(`no task ${id}`)
    return row
  }

  /** Resolves as soon as `condition` holds after a change, or soon when it is about the worker or a file. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const changed = Promise.withResolvers<void>()
      this.watchers.add(changed.resolve)
      const timer = setTimeout(changed.resolve, lookEveryMs)
      await changed.promise
      clearTimeout(timer)
    }
  }

  untilState(id: string, ...states: TaskState[]): Promise<void> {
    return this.until(() => states.includes(this.row(id).state))
  }

  asTaskStore(): TaskStore {
    return this as unknown as TaskStore
  }

  private settleOne(settlement: Settlement): SettleResult {
    const { fence } = settlement
    const row = this.held(fence)
    const state = row && resolveSettlement(row.state, settlement)
    if (!row || !state) return { fence, state: undefined }
    row.settlements.push(settlement)
    row.state = state
    row.workerId = null
    if (settlement.outcome === 'HANDED_BACK') row.attemptsUsed--
    if (settlement.outcome === 'RETRY') row.runAt = performance.now() + settlement.delayMs
    return { fence, state }
  }

  private held({ taskId, workerId, attempt }: Fence): MemoryTask | undefined {
    const row = this.tasks.get(taskId)
    const leased = row?.state === 'RUNNING' || row?.state === 'CANCEL_REQUESTED'
    return row && leased && row.workerId === workerId && row.attempt === attempt ? row : undefined
  }

  private async answer<T>(method: Method, work: () => T): Promise<T> {
    await Promise.resolve()
    const failure = this.failing.get(method)
    try {
      if (failure) throw failure
      return work()
    } finally {
      this.changed()
    }
  }

  private changed(): void {
    const watchers = [...this.watchers]
    this.watchers.clear()
    for (const resolve of watchers) resolve()
  }
}

function claimed(row: MemoryTask, workerId: string): ClaimedTask {
  const { type, payload, title, owner, businessKey } = row.task
  return {
    fence: { taskId: row.id, workerId, attempt: row.attempt },
    type,
    payload,
    title,
    owner,
    businessKey,
    attemptsUsed: row.attemptsUsed,
    ...EffectivePolicies.none.ofTask(type, row.task),
    leaseMs: row.leaseMs,
    checkpoint: row.checkpoint,
    idempotencyKey: `task-${row.id}`
  }
}
