import { AppError, operatorAction, systemClock, workerRequest } from '../kernel/index.ts'
import { openMeter } from '../queue/metrics/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import { actorOf, type ActOptions } from './actor.ts'
import { deadLettersOf } from './dead-letters.ts'
import { requireKnown, requireOneOf } from './known-options.ts'
import { letGo, openStore, whereIs, type OpenedStore, type Where } from './open-queue.ts'
import type { OpenQueueOptions, Queue, QueueTarget, QueueWorker, StartWorkerOptions, SubmittedTask } from './queue.ts'
import { startWorker } from './start-worker.ts'
import { toNewTask, type TaskInput } from './task-input.ts'

/*
 * `import { openQueue } from 'taskdeck'`: submitting and working without the app. docs/package.md is its page; the surface is this
 * file's exports, and a change here is a change for services.
 */

export { AppError, type ErrorCode, type ErrorKind } from '../kernel/index.ts'
export type {
  OperatorAction,
  Policy,
  PolicyInput,
  PolicyScope,
  Progress,
  RetryChoice,
  RetryPolicy,
  Schedule,
  ScheduleInput,
  TaskDetail,
  TaskState,
  WorkerRequest,
  WorkerRow
} from '../kernel/index.ts'
export {
  defineHandler,
  FinalError,
  HandlerError,
  InterruptedError,
  partial,
  PartialResult,
  ResourceError,
  RetryableError,
  type Handler,
  type HandlerContext,
  type HandlerDefinition,
  type InterruptReason,
  type NewArtifactFile
} from '../queue/pool/handler.ts'
export type { EndedHookedAttempt, HookedAttempt, WorkerHooks, WorkerStatus } from '../queue/pool/index.ts'
export type { ActionResult, DeadLetterPage, SubmitResult } from '../queue/task-store.ts'
export type { ActOptions } from './actor.ts'
export type { DeadLetterQuery, QueueDeadLetters, ResolvedDeadLetters, ResolveManyOptions } from './dead-letters.ts'
export type {
  OpenQueueOptions,
  Queue,
  QueuePolicies,
  QueueSchedules,
  QueueTarget,
  QueueWorker,
  QueueWorkers,
  StartWorkerOptions,
  SubmittedTask,
  WorkerLine
} from './queue.ts'
export type { HandlerTask, NamedTask, TaskInput, TaskOptions } from './task-input.ts'

/**
 * Opens a queue for submitting, and for workers in this process. Throws AppError: INVALID_INPUT for the address, SCHEMA_MISSING,
 * SCHEMA_OUTDATED and SCHEMA_NEWER for the tables, FILE_UNAVAILABLE, and what a connection throws (LOGIN_REFUSED,
 * CONNECTION_REFUSED, HOST_UNKNOWN, …). It does not wait for a database that is away: a started worker does.
 */
export async function openQueue(target: QueueTarget, options: OpenQueueOptions = {}): Promise<Queue> {
  requireKnown(options, ['migrate'])
  const where = whereIs(target)
  return new OpenedQueue(where, await openStore(where, options))
}

class OpenedQueue implements Queue {
  readonly policies: Queue['policies']
  readonly deadLetters: Queue['deadLetters']
  readonly schedules: Queue['schedules']
  readonly workers: Queue['workers']
  private readonly where: Where
  private readonly opened: OpenedStore
  private readonly meter
  private readonly store
  private readonly started = new Set<QueueWorker>()
  private closing: Promise<void> | undefined

  constructor(where: Where, opened: OpenedStore) {
    this.where = where
    this.opened = opened
    this.meter = openMeter({ store: opened.store, clock: systemClock })
    this.store = this.meter.counted(opened.store)
    this.policies = {
      list: async () => this.whileOpen().policies(),
      set: async (policy) => this.whileOpen().setPolicy(policy),
      remove: async (scope, name) => this.whileOpen().removePolicy(scope, name)
    }
    this.deadLetters = deadLettersOf(() => this.whileOpen())
    this.schedules = {
      list: async () => this.whileOpen().schedules(),
      put: async (schedule) => this.whileOpen().putSchedule(schedule),
      remove: async (name) => this.whileOpen().removeSchedule(name)
    }
    this.workers = {
      list: async () => (await this.whileOpen().read()).workers,
      request: async (workerId, request) => {
        if (request !== null) requireOneOf('request', request, workerRequest.options)
        return this.whileOpen().requestWorker(workerId, request)
      }
    }
  }

  get kind(): 'mysql' | 'sqlite' {
    return this.opened.store.kind
  }

  async submit(task: TaskInput): Promise<SubmittedTask> {
    const [result] = await this.submitMany([task])
    if (!result) throw new AppError('BUG', 'bug', 'The store gave no result for the task.')
    const { taskId } = result
    if (result.status === 'created') return { taskId, created: true, ...(result.isFailed && { isFailed: true }) }
    if (result.status === 'exists') return { taskId, created: false }
    const message = `The idempotency key is known already, with another payload (task ${taskId}).`
    throw new AppError('KEY_CONFLICT', 'user', message, { details: { taskId } })
  }

  async submitMany(tasks: readonly TaskInput[]) {
    if (!Array.isArray(tasks)) throw new AppError('INVALID_INPUT', 'user', 'submitMany takes a list of tasks.')
    return this.whileOpen().submit(tasks.map((task, index) => toNewTask(task, index + 1)))
  }

  async get(taskId: string) {
    return this.whileOpen().get(taskId)
  }

  async act(taskId: string, action: Parameters<Queue['act']>[1], options: ActOptions = {}) {
    requireKnown(options, ['by'])
    requireOneOf('action', action, operatorAction.options)
    return this.whileOpen().act(taskId, action, actorOf(options))
  }

  async startWorker(options: StartWorkerOptions = {}): Promise<QueueWorker> {
    this.whileOpen()
    const worker = await startWorker(this.where, this.meter, options)
    this.started.add(worker)
    const forget = (): void => void this.started.delete(worker)
    void worker.finished.then(forget, forget)
    // Closed while it was starting: nobody else would stop it.
    if (this.closing) await worker.stop()
    return worker
  }

  close(): Promise<void> {
    return (this.closing ??= this.end())
  }

  private async end(): Promise<void> {
    await Promise.all([...this.started].map((worker) => worker.stop()))
    await letGo(this.opened)
  }

  private whileOpen(): TaskStore {
    if (this.closing) throw new AppError('CONNECTION_LOST', 'operational', 'The queue was closed.')
    return this.store
  }
}
