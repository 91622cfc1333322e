import {
  allowedActions,
  defaultRetryPolicy,
  isTerminal,
  nextState,
  type Attempt,
  type LogLine,
  type NewTask,
  type OperatorAction,
  type Problem,
  type TaskFilter,
  type TaskState,
  type TaskSummary,
  type TaskView
} from '@contract'
import type { TaskdeckClient } from '@/transport/client.ts'

type Filter = Partial<TaskFilter>
type Act = Awaited<ReturnType<TaskdeckClient['tasks']['act']>>
type Progress = NonNullable<TaskSummary['progress']>

const failures = [
  ['LAB_GATEWAY_TIMEOUT', 'POST https://lab-gateway/v2/batch did not answer within 30 s'],
  ['LAB_GATEWAY_503', 'POST https://lab-gateway/v2/batch answered 503 Service Unavailable'],
  ['ROW_REJECTED', 'Row 3,914: the value of column amount is no number']
] as const
const states: readonly TaskState[] = [
  'RUNNING',
  'FAILED',
  'RETRY_WAIT',
  'RETRY_WAIT',
  'QUEUED',
  'SUCCESS',
  'RUNNING',
  'QUEUED',
  'PARTIAL_SUCCESS',
  'FAILED',
  'QUEUED',
  'CANCEL_REQUESTED',
  'SUCCESS',
  'PAUSED',
  'RETRY_WAIT',
  'CANCELLED',
  'CREATED'
]
const types = [
  'import.medical',
  'import.medical',
  'import.medical',
  'mail.send',
  'webhook.deliver',
  'report.render',
  'sync.inventory'
]

/** Tasks of one queue, made from their number alone: any amount costs nothing until a page of it is asked for. */
export class DemoTasks {
  private readonly changed = new Map<number, TaskSummary>()
  private readonly made: TaskSummary[] = []
  private readonly firstId = 48_000_000
  private readonly amount: number
  private readonly startedAt: number

  constructor(amount: number, startedAt: number) {
    this.amount = amount
    this.startedAt = startedAt
  }

  /** One step of time: `arrivals` new tasks, and what runs goes on. */
  move(now: number, arrivals: number): void {
    for (let i = 0; i < arrivals; i++) this.add(this.taskAt(this.newest + 1), { state: 'QUEUED', createdAt: now })
    for (let n = this.newest; n > Math.max(0, this.newest - 60); n--) {
      const task = this.taskAt(n)
      if (task.state !== 'RUNNING' || !task.progress?.total) continue
      const processed = Math.min(task.progress.total, task.progress.processed + 277)
      const progress = { ...task.progress, processed, succeeded: processed - task.progress.failed }
      if (processed < task.progress.total) this.put(n, { ...task, progress })
      else this.put(n, { ...task, progress, state: 'PARTIAL_SUCCESS', stateSince: now, finishedAt: now })
    }
  }

  list(input: { filter: Filter; limit?: number; cursor?: string | null }): {
    rows: TaskSummary[]
    nextCursor: string | null
  } {
    const limit = input.limit ?? 100
    const rows: TaskSummary[] = []
    for (let n = input.cursor ? this.numberOf(input.cursor) - 1 : this.newest; n >= 1; n--) {
      const task = this.taskAt(n)
      if (!matches(task, input.filter)) continue
      if (rows.length === limit) return { rows, nextCursor: rows.at(-1)!.id }
      rows.push(task)
    }
    return { rows, nextCursor: null }
  }

  find(id: string): TaskSummary | undefined {
    const n = this.numberOf(id)
    return n >= 1 && n <= this.newest ? this.taskAt(n) : undefined
  }

  /** Undefined when there is no such task. */
  get(id: string, blocked: Problem | null, now: number): TaskView | undefined {
    const task = this.find(id)
    if (!task) return undefined
    const { result: _result, ...rest } = detailOf(task, now)
    return {
      ...task,
      ...rest,
      result: _result,
      actions: blocked ? [] : allowedActions(task.state),
      actionsBlocked: blocked
    }
  }

  log(id: string, afterId: string | null, now: number): LogLine[] {
    const task = this.find(id)
    if (!task?.startedAt) return []
    const until = task.finishedAt ?? now
    const first = Math.max(0, Math.floor((until - task.startedAt) / 2_000) - 199)
    const lines = Array.from({ length: Math.floor((until - task.startedAt) / 2_000) - first + 1 }, (_, i) =>
      lineOf(task, first + i)
    )
    return afterId === null ? lines : lines.filter((line) => Number(line.id) > Number(afterId))
  }

  /** Undefined when the state does not allow it. */
  act(id: string, action: OperatorAction, now: number): Act | undefined {
    const task = this.find(id)
    const to = task && nextState(task.state, action)
    if (!task || !to) return undefined
    const ended = isTerminal(to) ? now : null
    const retried = action === 'retry' ? { attemptsUsed: 0, errorCode: null, errorMessage: null } : {}
    this.put(this.numberOf(id), { ...task, ...retried, state: to, stateSince: now, finishedAt: ended })
    return { from: task.state, to, auditId: String(900 + this.changed.size) }
  }

  submit(input: NewTask, count: number, now: number): { created: number; existing: number; firstId: string } {
    const first = this.newest + 1
    for (let i = 0; i < count; i++) {
      const { type, owner = '', title = '', priority = 5 } = input
      this.add(this.taskAt(this.newest + 1), { type, owner, title, priority, state: 'QUEUED', createdAt: now })
    }
    return { created: count, existing: 0, firstId: String(this.firstId + first) }
  }

  private get newest(): number {
    return this.amount + this.made.length
  }

  private numberOf(id: string): number {
    return Number(id) - this.firstId
  }

  private add(task: TaskSummary, change: Partial<TaskSummary> & { createdAt: number }): void {
    const fresh = { attempt: 0, attemptsUsed: 0, workerId: null, leaseUntil: null, startedAt: null, finishedAt: null }
    const { createdAt } = change
    const none = { errorCode: null, errorMessage: null, progress: null, runAt: createdAt, stateSince: createdAt }
    this.made.push({ ...task, ...fresh, ...none, ...change })
  }

  private put(n: number, task: TaskSummary): void {
    if (n > this.amount) this.made[n - this.amount - 1] = task
    else this.changed.set(n, task)
  }

  private taskAt(n: number): TaskSummary {
    if (n > this.amount && this.made[n - this.amount - 1]) return this.made[n - this.amount - 1]!
    return this.changed.get(n) ?? demoTask(n, this.firstId, this.startedAt - (this.amount - n) * 31_000)
  }
}

function demoTask(n: number, firstId: number, stateSince: number): TaskSummary {
  const state = states[(n * 7) % states.length]!
  const type = types[n % types.length]!
  const begun = !['QUEUED', 'CREATED', 'PAUSED'].includes(state)
  const attempt = begun ? (state === 'FAILED' ? 5 : 1 + (n % 4)) : 0
  const failure = state === 'FAILED' || state === 'RETRY_WAIT' ? failures[n % 2] : undefined
  const leased = state === 'RUNNING' || state === 'CANCEL_REQUESTED'
  const terminal = isTerminal(state)
  return {
    id: String(firstId + n),
    type,
    state,
    owner: 'lab-intake',
    title: `Batch ${['KX', 'MT', 'RA', 'QD', 'HV'][n % 5]}-${4000 + ((n * 37) % 900)}`,
    businessKey: `batch-${4000 + n}`,
    priority: 5,
    attempt,
    attemptsUsed: attempt,
    maxAttempts: 5,
    workerId: begun ? `imp-${String(1 + (n % 12)).padStart(2, '0')}` : null,
    leaseUntil: leased ? stateSince + 60_000 : null,
    createdAt: stateSince - 760_000,
    runAt: state === 'RETRY_WAIT' ? stateSince + 900_000 : begun ? stateSince - 2_000 : stateSince,
    stateSince,
    startedAt: begun ? stateSince - (terminal ? 30_000 : 0) : null,
    finishedAt: terminal ? stateSince : null,
    deadlineAt: null,
    timeoutMs: null,
    errorCode: failure?.[0] ?? null,
    errorMessage: failure?.[1] ?? null,
    progress: progressOf(state, type)
  }
}

function progressOf(state: TaskState, type: string): Progress | null {
  if (!type.startsWith('import')) return null
  if (state === 'RUNNING') return { total: 10_000, processed: 4_180, succeeded: 4_096, failed: 84, skipped: 0 }
  if (state === 'PARTIAL_SUCCESS')
    return { total: 10_000, processed: 10_000, succeeded: 9_800, failed: 200, skipped: 0 }
  return null
}

function matches(task: TaskSummary, filter: Filter): boolean {
  const { states: wanted = [], types: ofTypes = [], owner, workerId, errorCode, search } = filter
  if (wanted.length > 0 && !wanted.includes(task.state)) return false
  if (ofTypes.length > 0 && !ofTypes.includes(task.type)) return false
  if (owner && task.owner !== owner) return false
  if (workerId && task.workerId !== workerId) return false
  if (errorCode && task.errorCode !== errorCode) return false
  return !search || task.id === search || task.businessKey === search || task.title.startsWith(search)
}

function attemptsOf(task: TaskSummary): Attempt[] {
  const end = task.startedAt ?? task.stateSince
  return Array.from({ length: task.attempt }, (_, i): Attempt => {
    const last = i === task.attempt - 1
    const startedAt = last ? end : end - (task.attempt - i) * 170_000
    const failure = failures[i % 2]!
    const error = { code: failure[0], message: failure[1], class: 'retryable' as const }
    const open = last && !isTerminal(task.state) && task.state !== 'RETRY_WAIT'
    const outcomes: Partial<Record<TaskState, Attempt['outcome']>> = {
      SUCCESS: 'SUCCESS',
      PARTIAL_SUCCESS: 'PARTIAL_SUCCESS',
      FAILED: 'FAILED',
      CANCELLED: 'CANCELLED'
    }
    const outcome = last ? (outcomes[task.state] ?? 'RETRY') : i === 1 ? 'LEASE_EXPIRED' : 'RETRY'
    return {
      attempt: i + 1,
      workerId: `imp-${String(1 + ((i + task.attempt) % 12)).padStart(2, '0')}`,
      dueAt: startedAt - 1_200,
      startedAt,
      endedAt: open ? null : startedAt + (i % 2 ? 2_000 : 30_000),
      outcome: open ? null : outcome,
      error:
        open || outcome === 'SUCCESS' || outcome === 'PARTIAL_SUCCESS' || outcome === 'LEASE_EXPIRED' ? null : error,
      progress: null
    }
  })
}

type Detail = Omit<TaskView, keyof TaskSummary | 'actions' | 'actionsBlocked'>

function detailOf(task: TaskSummary, now: number): Detail {
  const ended = task.state === 'SUCCESS' || task.state === 'PARTIAL_SUCCESS'
  const file = {
    id: '7',
    attempt: task.attempt,
    name: 'rejected-rows.csv',
    contentType: 'text/csv',
    bytes: 24_310,
    host: 'clinic-worker-2',
    path: '/var/lib/taskdeck/artifacts/rejected-rows.csv',
    createdAt: task.stateSince,
    expiresAt: now + 6 * 86_400_000
  }
  const away = { ...file, id: '8', name: 'trace.log', contentType: 'text/plain', bytes: 1_204, host: 'clinic-worker-3' }
  return {
    payload: JSON.stringify({
      file: 'lab/2026-03-12/KX-4417.csv',
      rows: 10000,
      callback_token: '••••',
      contact: { name: 'Lab intake', phone: '••••' },
      columns: ['sample', 'analyte', 'value'],
      dryRun: false,
      note: null
    }),
    maskedFields: ['callback_token', 'contact.phone'],
    result: ended ? '{"imported":9800,"rejected":200,"report":"rejected-rows.csv"}' : null,
    partitionKey: null,
    hasIdempotencyKey: true,
    retryPolicy: defaultRetryPolicy,
    attempts: attemptsOf(task),
    artifacts: ended ? [file, away] : [],
    waitsFor: [],
    downloadable: ended ? ['7'] : [],
    unavailable: ended ? { '8': 'other-host' } : {}
  }
}

const texts: readonly (readonly [LogLine['level'], string])[] = [
  ['info', 'attempt started, resuming after row 3,900'],
  ['info', 'batch 41 of 100: 96 inserted, 4 rejected'],
  ['debug', 'pool: 3 of 4 connections in use'],
  ['warn', 'batch 42: slow response, 6.1 s'],
  ['error', 'POST https://lab-gateway/v2/batch answered 503 Service Unavailable, again in 4 s (retry 1 of 2)']
]

function lineOf(task: TaskSummary, i: number): LogLine {
  const [level, message] = texts[i % texts.length]!
  return { id: String(i + 1), attempt: task.attempt, at: (task.startedAt ?? 0) + i * 2_000 + 204, level, message }
}
