import type { z } from 'zod'
import type {
  LogLevel,
  OperatorAction,
  Policy,
  PolicyInput,
  PolicyScope,
  Schedule,
  ScheduleInput,
  TaskDetail,
  WorkerRequest,
  WorkerRow
} from '../kernel/index.ts'
import type { WorkerHooks, WorkerStatus } from '../queue/pool/index.ts'
import type { ActionResult, SubmitResult } from '../queue/task-store.ts'
import type { ActOptions } from './actor.ts'
import type { QueueDeadLetters } from './dead-letters.ts'
import type { HandlerTask, NamedTask, TaskInput } from './task-input.ts'

/** `mysql://user:password@host:port/database?tls=required`, or a file of the embedded store, also as `sqlite:PATH`. */
export type QueueTarget = string | { readonly file: string }

export interface OpenQueueOptions {
  /** Make or update Taskdeck's tables first. Default: true for a file, false for a server. */
  readonly migrate?: boolean
}

export interface SubmittedTask {
  readonly taskId: string
  /** False: the idempotency key was known, with the same payload; this is the task that exists, whatever its state. */
  readonly created: boolean
  /** FAILED at once: what it was to run after had failed or was cancelled before. */
  readonly isFailed?: true
}

export interface WorkerLine {
  /** Milliseconds since the epoch, UTC, by the local clock. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly taskId: string | null
}

export interface StartWorkerOptions {
  /** Folder with handler files, JavaScript or TypeScript; see docs/handlers.md. A relative path starts at the working directory. */
  readonly handlers?: string | URL
  /** Also run sleep, flaky, cpu, http-request, import-csv and import-xlsx. Default false. */
  readonly builtInHandlers?: boolean
  /** Tasks at once, 1 to 1,000. Default 4. */
  readonly concurrency?: number
  /** Unique among all workers of the queue. Default: host, process and a random part. */
  readonly workerId?: string
  /** How long a task stays with a worker that gives no sign; a policy of the type goes first. Default 30,000. */
  readonly leaseMs?: number
  /** Longest pause between looks at an idle queue. Default 500. */
  readonly pollMs?: number
  /** Pause between rounds that end what dead workers left. Default 60,000. */
  readonly recoverMs?: number
  /** How long `stop` may take: what still runs near its end is handed back. Default 20,000. */
  readonly graceMs?: number
  /** Where artifacts of handlers are kept; only this user should be able to write there. Default: `artifacts` beside the file of an embedded queue, else in Taskdeck's data folder. */
  readonly artifactDir?: string
  /** Days that artifacts are kept. Default 7. */
  readonly artifactDays?: number
  /** Offers Prometheus metrics at http://127.0.0.1:PORT/metrics (0: any free port); see docs/metrics.md. Default: none. */
  readonly metricsPort?: number
  /**
   * Names of fields whose values are hidden in log lines and error messages before they are stored, beside the built-in ones; compared without case,
   * spaces, `_`, `-` and `.`. At most 100 of at most 64 characters.
   */
  readonly sensitiveKeys?: readonly string[]
  /** Told of each step of the worker and its attempts; cannot hurt them. */
  readonly hooks?: WorkerHooks
  /** The worker's own log; what it throws reaches nobody. Default: nothing is written. */
  readonly onLog?: (line: WorkerLine) => void
}

export interface QueueWorker {
  readonly id: string
  /** Address of the metrics; null when none were asked for. */
  readonly metricsUrl: string | null
  status(): WorkerStatus
  /** Claims nothing more at once and resolves when all is handed back or done, `graceMs` at the latest. Idempotent. */
  stop(): Promise<void>
  /** Resolves once it has stopped: by `stop`, or because another process asked for it. */
  readonly finished: Promise<void>
}

export interface QueuePolicies {
  /** Those that are set, by scope and name. */
  list(): Promise<Policy[]>
  /** Sets all of one policy, null for what is not given. Workers follow within a poll. Throws INVALID_INPUT, also for the name of retry delays that are not there. */
  set(policy: PolicyInput): Promise<void>
  /** Whether there was one. Throws INVALID_INPUT for retry delays (DELAYS) that a policy or a schedule names. */
  remove(scope: PolicyScope, name: string): Promise<boolean>
}

/** Cron texts that submit one task a tick, however many workers look after them. */
export interface QueueSchedules {
  list(): Promise<Schedule[]>
  /**
   * Makes or changes one, by its name; its next tick is counted from now, unless cron text and zone stay as they are. Throws INVALID_INPUT for a cron
   * text, a time zone or a task that is not valid.
   */
  put(schedule: ScheduleInput): Promise<void>
  /** Whether there was one. */
  remove(name: string): Promise<boolean>
}

export interface QueueWorkers {
  /** Those that reported lately, whatever process they are in: newest report first, at most 1,000. */
  list(): Promise<readonly WorkerRow[]>
  /**
   * QUIET: claim nothing more, finish what runs. STOP: the same, then end. null takes it back. The worker reads it with its next report, within 5
   * seconds. False: nobody is asked, for it is unknown, stopped or silent. Throws WORKER_STOPPING for QUIET while STOP is asked.
   */
  request(workerId: string, request: WorkerRequest | null): Promise<boolean>
}

/**
 * A queue, opened. Every method may throw what its database throws (CONNECTION_LOST, STATEMENT_TIMEOUT, …: AppError of kind
 * `operational`), and CONNECTION_LOST after `close`. docs/package.md lists the codes.
 */
export interface Queue {
  readonly kind: 'mysql' | 'sqlite'
  /**
   * Resolves when the task is stored. Throws INVALID_INPUT, INVALID_PAYLOAD, KEY_CONFLICT (the idempotency key is known with another
   * payload) and QUOTA_EXCEEDED.
   */
  submit(task: NamedTask): Promise<SubmittedTask>
  submit<Schema extends z.ZodType>(task: HandlerTask<Schema>): Promise<SubmittedTask>
  /** In few round trips; batches are atomic. A known key with another payload is `conflict` in its result and no error. */
  submitMany(tasks: readonly TaskInput[]): Promise<SubmitResult[]>
  /** undefined: there is none. Payload, result and checkpoint are JSON text. */
  get(taskId: string): Promise<TaskDetail | undefined>
  /**
   * release, cancel, pause, resume or retry. What the state does not allow is `refused` and no error. Who retries a task that failed is kept with its
   * dead letter.
   */
  act(taskId: string, action: OperatorAction, options?: ActOptions): Promise<ActionResult>
  readonly policies: QueuePolicies
  readonly deadLetters: QueueDeadLetters
  readonly schedules: QueueSchedules
  readonly workers: QueueWorkers
  /**
   * Resolves when it polls. It has connections of its own and beats in this process's event loop: do not block that for longer than a
   * third of the lease. Throws INVALID_INPUT, and HANDLER_LOAD_FAILED when no handler could be loaded at all.
   */
  startWorker(options?: StartWorkerOptions): Promise<QueueWorker>
  /** Stops its workers, each within its grace, then lets go of the database. Idempotent. */
  close(): Promise<void>
}
