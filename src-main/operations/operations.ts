import type { Audit, AuditEntry } from '../audit/index.ts'
import { AppError, maskText, operatorActions, toAppError, withDeadline } from '../kernel/index.ts'
import type { Clock, MaskText, OperatorAction } from '../kernel/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import type { ActionTarget } from './action-target.ts'
import { answerOf, otherRequest, outcomeOfError, outcomeOfResult, parseOutcome, unknownOutcome } from './outcome.ts'
import type { Answer, Outcome } from './outcome.ts'
import { submitAction, submitAudited, type SubmitRequest, type Submitted } from './submission.ts'
import { requestAudited, workerActions, type WorkerRequestCall, type WorkerRequested } from './worker-request.ts'

export interface ActRequest extends ActionTarget {
  readonly store: Pick<TaskStore, 'act'>
  readonly taskId: string
  readonly action: OperatorAction
  /** One for each press; a repeated one changes nothing and gets the first answer. */
  readonly requestId: string
  /** On production the connection's name, as the operator typed it. */
  readonly confirmation: string
  readonly actor: string
  readonly reason?: string
}

export interface Operations {
  /**
   * Carries out one action. Throws READ_ONLY, INVALID_INPUT (no confirmation), ILLEGAL_TRANSITION and NOT_FOUND (user), what the store
   * throws, AUDIT_UNAVAILABLE or DISK_FULL when it cannot be recorded, and COMMIT_UNKNOWN when no answer came in time.
   */
  act(request: ActRequest): Promise<Answer>
  /** Submits tasks that an operator made by hand. Throws like `act`, except for what a task's state forbids. */
  submit(request: SubmitRequest): Promise<Submitted>
  /**
   * Asks a worker to be quiet or to stop, or takes that back. Throws like `submit`, and WORKER_GONE when the worker is unknown, stopped or silent,
   * WORKER_STOPPING for quiet while it is asked to stop.
   */
  requestWorker(call: WorkerRequestCall): Promise<WorkerRequested>
  /**
   * Gives the intents that have no outcome, and that nobody is at any more, one: unknown, with the state that the task is in now (a submit and what a
   * worker was asked have no single task to look at). Those whose store is not there (undefined) or does not answer stay. Returns how many were settled.
   */
  reconcile(storeOf: (connectionId: string) => Pick<TaskStore, 'get'> | undefined): Promise<number>
}

export interface OperationsOptions {
  readonly audit: Audit
  readonly clock: Clock
  /** Default 30,000. */
  readonly deadlineMs?: number
  /** Hides what is sensitive in messages before they are stored. Default: by the built-in names. */
  readonly maskText?: MaskText
  /** The outcome of an action could not be recorded; its intent stands without one. */
  readonly onUnrecorded?: (error: AppError) => void
}

/** An intent younger than this may belong to another instance that is still at it. */
const settledAfterMs = 120_000
const reconciledAtOnce = 500

export function createOperations(options: OperationsOptions): Operations {
  return new AuditedOperations(options)
}

/** Why nothing can be changed through this connection; undefined when it can. */
export function writeBlock({
  accessMode,
  connectionName
}: Pick<ActionTarget, 'accessMode' | 'connectionName'>): AppError | undefined {
  if (accessMode === 'read-write') return undefined
  return new AppError(
    'READ_ONLY',
    'user',
    `${connectionName} is open read-only. Switch it to read-write under Connections, then try again.`,
    { details: { connectionName } }
  )
}

class AuditedOperations implements Operations {
  private readonly options: OperationsOptions
  /** By request id, until the store has answered, however late. */
  private readonly underWay = new Map<string, { readonly request: ActRequest; readonly answer: Promise<Answer> }>()

  constructor(options: OperationsOptions) {
    this.options = options
  }

  async act(request: ActRequest): Promise<Answer> {
    const { clock, deadlineMs = 30_000 } = this.options
    return withDeadline(clock, deadlineMs, this.join(request), () => unknownOutcome())
  }

  async submit(request: SubmitRequest): Promise<Submitted> {
    const { audit, clock, deadlineMs = 30_000 } = this.options
    checkAllowed(request)
    const record = (id: string, outcome: object | AppError): Promise<void> => this.record(id, outcome)
    return withDeadline(clock, deadlineMs, submitAudited(audit, request, record), () => unknownOutcome())
  }

  async requestWorker(call: WorkerRequestCall): Promise<WorkerRequested> {
    const { audit, clock, deadlineMs = 30_000 } = this.options
    checkAllowed(call)
    const record = (id: string, outcome: object | AppError): Promise<void> => this.record(id, outcome)
    return withDeadline(clock, deadlineMs, requestAudited(audit, call, record), () => unknownOutcome())
  }

  async reconcile(storeOf: (connectionId: string) => Pick<TaskStore, 'get'> | undefined): Promise<number> {
    const { audit, clock } = this.options
    let settled = 0
    for (const entry of await audit.unsettled(reconciledAtOnce)) {
      const store = storeOf(entry.connectionId)
      const isOurs = hasNoTask(entry) || (operatorActions as readonly string[]).includes(entry.action)
      const isOver = clock.now() - entry.at >= settledAfterMs && !this.underWay.has(entry.requestId)
      if (!store || !isOurs || !isOver) continue
      const found = await this.outcomeFound(store, entry)
      if (!found) continue
      await audit.outcome(entry.id, JSON.stringify(found))
      settled++
    }
    return settled
  }

  private join(request: ActRequest): Promise<Answer> {
    const first = this.underWay.get(request.requestId)
    if (first) {
      checkSame(request, { ...first.request, target: first.request.taskId })
      return first.answer
    }
    const answer = this.carryOut(request)
    this.underWay.set(request.requestId, { request, answer })
    const forget = (): void => void this.underWay.delete(request.requestId)
    answer.then(forget, forget)
    return answer
  }

  private async carryOut(request: ActRequest): Promise<Answer> {
    const { audit } = this.options
    const known = await audit.findRequest(request.requestId)
    if (known) return repeated(request, known)
    checkAllowed(request)
    const { actor, connectionId, action, taskId, requestId, reason = '' } = request
    const intent = await audit.intent({ actor, connectionId, action, target: taskId, count: 1, requestId, reason })
    if (intent.status === 'repeated') return repeated(request, intent.entry)
    const { outcome, failure } = await this.perform(request, intent.id)
    await this.record(intent.id, outcome)
    if (failure) throw failure
    return answerOf(action, intent.id, outcome)
  }

  private async perform(
    { store, taskId, action, actor }: ActRequest,
    auditId: string
  ): Promise<{ outcome: Outcome; failure?: AppError }> {
    try {
      return { outcome: outcomeOfResult(await store.act(taskId, action, actor)) }
    } catch (error) {
      const failure = toAppError(error)
      // A lost reply stays open: the intent has no outcome until someone has looked.
      if (failure.code === 'COMMIT_UNKNOWN') throw unknownOutcome(auditId, failure)
      return { outcome: this.outcomeOf(failure), failure }
    }
  }

  /** The action is done and cannot be taken back: that its outcome was not recorded must not make it look failed. */
  private async record(auditId: string, outcome: object | AppError): Promise<void> {
    const kept = outcome instanceof AppError ? this.outcomeOf(outcome) : outcome
    try {
      await this.options.audit.outcome(auditId, JSON.stringify(kept))
    } catch (error) {
      this.options.onUnrecorded?.(toAppError(error))
    }
  }

  private outcomeOf(failure: AppError): Outcome {
    return outcomeOfError(failure, this.options.maskText ?? maskText)
  }

  private async outcomeFound(store: Pick<TaskStore, 'get'>, entry: AuditEntry): Promise<Outcome | undefined> {
    if (hasNoTask(entry)) return { status: 'unknown', state: null }
    const { clock, deadlineMs = 30_000 } = this.options
    try {
      const task = await withDeadline(clock, deadlineMs, store.get(entry.target), () => unknownOutcome(entry.id))
      return { status: 'unknown', state: task?.state ?? null }
    } catch {
      return undefined // tried again in the next round
    }
  }
}

const hasNoTask = ({ action }: AuditEntry): boolean =>
  action === submitAction || (workerActions as readonly string[]).includes(action)

/** Throws READ_ONLY, and INVALID_INPUT for production whose name was not typed. */
export function checkAllowed(request: ActionTarget & { readonly confirmation: string }): void {
  const block = writeBlock(request)
  if (block) throw block
  if (request.environment === 'production' && request.confirmation !== request.connectionName) {
    throw new AppError(
      'INVALID_INPUT',
      'user',
      `${request.connectionName} is a production connection: type its name exactly to confirm.`,
      { details: { field: 'confirmation', connectionName: request.connectionName } }
    )
  }
}

function checkSame(request: ActRequest, first: { connectionId: string; action: string; target: string }): void {
  const { connectionId, action, taskId } = request
  if (first.connectionId === connectionId && first.action === action && first.target === taskId) return
  throw otherRequest()
}

function repeated(request: ActRequest, entry: AuditEntry): Answer {
  checkSame(request, entry)
  return answerOf(request.action, entry.id, entry.outcome === null ? undefined : parseOutcome(entry.outcome))
}
