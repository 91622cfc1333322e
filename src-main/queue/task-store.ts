import type {
  Artifact,
  AttemptError,
  DeadLetter,
  DeadLetterFilter,
  Fence,
  LogLevel,
  LogLine,
  NewTask,
  OperatorAction,
  Policy,
  PolicyInput,
  PolicyScope,
  Progress,
  QueueReading,
  RetryPolicy,
  Schedule,
  ScheduleInput,
  TaskDetail,
  TaskFilter,
  TaskState,
  TaskSummary,
  WorkerRequest,
  WorkerRow
} from '../kernel/index.ts'
import type { RecentAttempts, RecentWindow } from './recent-attempts.ts'

/*
 * The port between the engine and a database. Two adapters implement it (`store-mysql`, `store-sqlite`) and one
 * conformance suite (`test/conformance`) holds for both. Promises that every adapter keeps:
 *
 * - All times are the database's clock, stored in UTC; callers pass durations, never instants they computed (what a
 *   producer or operator chose, such as `runAt`, excepted).
 * - Each change of state is one conditional write that names the state it comes from (`kernel/task-state.ts`).
 * - Each write to a leased task names task, worker and attempt (the fence) and a leased state. A write that meets no such row
 *   changes nothing and is reported as refused; it is no error.
 * - `attempt` grows by one with each claim and never otherwise. The attempt's row is written in the transaction that
 *   ends the attempt, so a task's attempt rows are 1..n without gaps, and a running task's newest one is its own row.
 * - A method is atomic unless it says otherwise. Transient failures (deadlock, lock wait) are retried inside as whole transactions; a
 *   lost reply to a commit is settled by reading back. What is thrown is an AppError of kind `operational` or `user`.
 */

/** Result of submitting one task, at the same index as its input. */
export type SubmitResult =
  | {
      readonly status: 'created'
      readonly taskId: string
      /** FAILED at once: what it was to wait for had failed or was cancelled before. */
      readonly isFailed?: true
    }
  /** The idempotency key is known with the same payload; the task that exists, whatever its state. */
  | { readonly status: 'exists'; readonly taskId: string }
  /** The idempotency key is known with another payload (KEY_CONFLICT for the caller). */
  | { readonly status: 'conflict'; readonly taskId: string }

export interface ClaimRequest {
  readonly workerId: string
  /** At most this many: never more than the caller's free slots. */
  readonly limit: number
  readonly leaseMs: number
  /** Only these types; a worker names the types it has handlers for. Empty claims nothing. */
  readonly types: readonly string[]
  /** Told each time that the claim's transaction met another one and is begun again (deadlock, lock wait); for the metrics. */
  readonly onConflict?: () => void
  /** Told when it got less than it asked for and limits of running tasks may be why. Costs no statement. */
  readonly onLimited?: (by: LimitedBy) => void
}

/** What kept due tasks from a claim. Rates and pauses are not among it: no end of a task helps against them. */
export interface LimitedBy {
  /** The end of a task of one of these types makes room. */
  readonly types: readonly string[]
  /** Another claimer was just taking tasks under such a limit: what it leaves can be taken in a moment. */
  readonly isBusy: boolean
}

export interface ClaimedTask {
  readonly fence: Fence
  readonly type: string
  readonly payload: string
  readonly title: string
  readonly owner: string
  readonly businessKey: string | null
  /** Counted attempts, this one included. */
  readonly attemptsUsed: number
  readonly maxAttempts: number
  readonly retryPolicy: RetryPolicy
  readonly timeoutMs: number | null
  /** What the claim gave and each renewal gives again: the policy's, else the worker's. */
  readonly leaseMs: number
  /** What an earlier attempt saved, JSON text. */
  readonly checkpoint: string | null
  /** The same for every attempt of the task: handlers give it to the systems that they change. */
  readonly idempotencyKey: string
}

export interface Renewal {
  /** Leases that hold until now + their leaseMs. */
  readonly renewed: readonly Fence[]
  /** Gone to someone else, or ended: abort the handler. */
  readonly lost: readonly Fence[]
  /** Subset of `renewed` whose task is in CANCEL_REQUESTED. */
  readonly cancelRequested: readonly Fence[]
}

export interface ProgressUpdate {
  readonly fence: Fence
  /** undefined leaves the counts that are there. */
  readonly progress?: Progress
  /** JSON text for the next attempt; undefined leaves what is there. */
  readonly checkpoint?: string
}

export interface LogEntry {
  readonly fence: Fence
  readonly level: LogLevel
  readonly message: string
}

export interface NewArtifact {
  readonly name: string
  readonly contentType: string
  readonly bytes: number
  readonly host: string
  readonly path: string
  readonly expiresInMs: number
}

/** How a worker ends an attempt. Artifacts, progress and result are written in the same transaction. */
export type Settlement = {
  readonly fence: Fence
  readonly progress?: Progress
  readonly artifacts?: readonly NewArtifact[]
} & (
  | { readonly outcome: 'SUCCESS' | 'PARTIAL_SUCCESS'; readonly result: string | null }
  /** To RETRY_WAIT, due `delayMs` from now; to CANCELLED when the task was asked to stop. */
  | { readonly outcome: 'RETRY'; readonly error: AttemptError; readonly delayMs: number }
  | { readonly outcome: 'FAILED'; readonly error: AttemptError }
  /** Only from CANCEL_REQUESTED; refused from RUNNING. */
  | { readonly outcome: 'CANCELLED' }
  /** Unstarted or interrupted by a shut-down: back to QUEUED, not counted. */
  | { readonly outcome: 'HANDED_BACK' }
)

/** `state` is the task's state after it; undefined when the fence no longer held (lease lost). */
export interface SettleResult {
  readonly fence: Fence
  readonly state: TaskState | undefined
  /**
   * What this call did to tasks that waited for others: QUEUED ones may be due. All of them are with one of the results. Not repeated for a repeated
   * settlement.
   */
  readonly dependents?: readonly Recovered[]
}

export interface Recovered {
  readonly taskId: string
  readonly type: string
  /** DEPENDENCY: what it waited for ended; a recovery returns those that the end itself could not see to, and of tasks that it ended. */
  readonly reason: 'LEASE_EXPIRED' | 'DEADLINE' | 'DEPENDENCY'
  readonly state: TaskState
}

export type ActionResult =
  | {
      readonly status: 'done'
      readonly from: TaskState
      readonly to: TaskState
      /** What became of tasks that waited for its end. */
      readonly dependents?: readonly Recovered[]
    }
  /** The task's state does not allow it (any more). */
  | { readonly status: 'refused'; readonly state: TaskState }
  | { readonly status: 'missing' }

export interface TaskPage {
  readonly rows: readonly TaskSummary[]
  /** Give it back for the next page; null at the end. Opaque. */
  readonly nextCursor: string | null
}

/** What a worker reports of itself; the store stamps the times. */
export type WorkerReport = Omit<
  WorkerRow,
  'startedAt' | 'lastHeartbeatAt' | 'lastPollAt' | 'lastClaimAt' | 'fault' | 'request'
> & {
  /** Unique per process start: a second process under the same id is told apart by it. */
  readonly incarnation: string
  readonly polledAgoMs: number | null
  readonly claimedAgoMs: number | null
  readonly fault: string | null
  /** UDP port of the loopback address where it listens for hints of new work; null when it does not. */
  readonly hintPort: number | null
}

export type SchemaStatus =
  | { readonly status: 'ready'; readonly version: number }
  | { readonly status: 'missing' }
  | { readonly status: 'outdated'; readonly version: number; readonly latest: number }
  /** Made by a newer Taskdeck: this one must not write to it. */
  | { readonly status: 'newer'; readonly version: number; readonly latest: number }

export interface MigrationStatement {
  readonly migration: string
  readonly sql: string
}

/** Making and checking the tables; separate from the store, which may only be opened on a ready schema. */
export interface SchemaInstaller {
  status(): Promise<SchemaStatus>
  /** What `migrate` would run, in order, for an operator to read first. */
  pending(): Promise<readonly MigrationStatement[]>
  /** Runs what is pending. Resumable after a kill between any two statements; safe to run from two processes at once. */
  migrate(): Promise<void>
}

/** Policies: read by every claim and submission within one poll. */
export interface PolicyStore {
  /** Those that are set, by scope and name. */
  policies(): Promise<Policy[]>
  /** Sets all of one policy, null for what is not given. Throws INVALID_INPUT, also for the name of retry delays that are not there. */
  setPolicy(policy: PolicyInput): Promise<void>
  /** Whether there was one. Throws INVALID_INPUT for retry delays (DELAYS) that a policy or a schedule names. */
  removePolicy(scope: PolicyScope, name: string): Promise<boolean>
}

export interface DeadLetterPage {
  readonly rows: readonly DeadLetter[]
  readonly nextCursor: string | null
}

/** One step of a replay or discard of many; a caller goes on with `nextCursor` until it is null, and may stop in between. */
export interface DeadLetterStep {
  readonly changed: number
  /** Went on, or were replayed or discarded, by someone else since. */
  readonly skipped: number
  readonly nextCursor: string | null
}

/** What an operator asks for, and who that is: at most 128 characters of the name are kept. */
export interface OperatorCall {
  readonly action: OperatorAction
  readonly by: string
}

/** Which part of what a filter finds one step takes, and who it is that replays or discards. */
export interface DeadLetterRange {
  readonly upToId: string
  /** At most 500. */
  readonly limit: number
  readonly cursor: string | null
  /** Kept with each letter, at most 128 characters of it. */
  readonly by: string
}

export interface DeadLetterStore {
  /** Newest first. */
  deadLetters(filter: DeadLetterFilter, limit: number, cursor: string | null): Promise<DeadLetterPage>
  /** At most `mostCounted` + 1 of them: what a bulk action would change. */
  countDeadLetters(filter: DeadLetterFilter, mostCounted: number): Promise<number>
  /** The newest id now: what a bulk action is bounded by, so that what dies meanwhile is left alone. */
  newestDeadLetter(): Promise<string | null>
  /** Back to QUEUED with all attempts again, as an operator's retry; history is kept. At most `limit` of those up to `upToId`. */
  replay(filter: DeadLetterFilter, range: DeadLetterRange): Promise<DeadLetterStep>
  /** The task stays FAILED; its letter is no longer open. */
  discard(filter: DeadLetterFilter, range: DeadLetterRange): Promise<DeadLetterStep>
  /** One letter by its id. */
  resolveDeadLetter(id: string, action: 'replay' | 'discard', by: string): Promise<ActionResult>
}

/** What one round of `runSchedules` did. */
export interface ScheduleRound {
  /** The type of each task that this round made. */
  readonly submitted: readonly string[]
  /** Until the next tick is due (ms), 0 while some are left; null: there is none. */
  readonly nextInMs: number | null
}

export interface ScheduleStore {
  schedules(): Promise<Schedule[]>
  /**
   * Makes or changes one; its next tick is counted from now, unless cron text and zone stay as they are. Throws INVALID_INPUT for a cron text,
   * a time zone or a task that is not valid, and beyond 1,000 schedules.
   */
  putSchedule(schedule: ScheduleInput): Promise<void>
  removeSchedule(name: string): Promise<boolean>
  /**
   * Submits the tasks of due ticks, those on time first. Any process may run it at any time, as often as it likes. `stopped` ends it early; what it leaves
   * is still due.
   */
  runSchedules(stopped?: AbortSignal): Promise<ScheduleRound>
}

export interface TaskStore extends PolicyStore, DeadLetterStore, ScheduleStore {
  readonly kind: 'mysql' | 'sqlite'

  // producers
  /**
   * Any number of tasks; each batch of `taskLimits.submitBatch` (and `submitBytes` of payload) is written as a whole or not at all. Throws
   * INVALID_INPUT and INVALID_PAYLOAD before it writes anything, also for tasks in `after` and retry delays that do not exist, and QUOTA_EXCEEDED for a batch that
   * a quota has no room for. Tasks with a known idempotency key count for no quota.
   */
  submit(tasks: readonly NewTask[]): Promise<SubmitResult[]>

  // workers
  /** Due tasks, most urgent first, then longest due. Concurrent claimers get disjoint tasks and do not wait for each other. */
  claim(request: ClaimRequest): Promise<ClaimedTask[]>
  /** All of one worker's leases in one statement, each for as long again as its claim gave (`leaseMs`). */
  renew(leases: readonly Fence[]): Promise<Renewal>
  /** Returns the fences that were refused. */
  saveProgress(updates: readonly ProgressUpdate[]): Promise<Fence[]>
  /** Lines whose fence no longer holds are dropped. */
  appendLog(entries: readonly LogEntry[]): Promise<void>
  /** One transaction for the batch; each settlement is accepted or refused on its own. Repeating an accepted one is accepted again. */
  settle(settlements: readonly Settlement[]): Promise<SettleResult[]>
  /** Returns what was asked of this process; a request ends with the process that it was made to. */
  reportWorker(report: WorkerReport): Promise<WorkerRequest | null>
  /** Where the live workers of this host that claim listen for hints, at most 64 of them. */
  hintPorts(host: string): Promise<number[]>

  // recovery: any process may run it at any time
  /**
   * At most `limit` expired leases and as many passed deadlines, with what waited for these tasks as far as one transaction goes, then what is
   * left of such work until about `limit` tasks have changed by it. Call again while it returns `limit` or more. Also forgets some of the workers
   * that stopped an hour ago or fell silent a day ago.
   */
  recover(limit: number): Promise<Recovered[]>

  // operators
  /** `by`: who does it. A retry is kept with the task's open dead letter, as its replay. */
  act(taskId: string, action: OperatorAction, by: string): Promise<ActionResult>
  /**
   * The worker reads it with its next report; null takes a request back. False: nobody is asked, for the worker is unknown, stopped, or has been silent for
   * `workerAliveMs`. What was asked of one that died since can be taken back. Throws WORKER_STOPPING (user) for QUIET while STOP is asked: it would
   * weaken what another operator counts on.
   */
  requestWorker(id: string, request: WorkerRequest | null): Promise<boolean>

  // looking
  get(taskId: string): Promise<TaskDetail | undefined>
  /** Newest first by id. */
  list(filter: TaskFilter, limit: number, cursor: string | null): Promise<TaskPage>
  /** The newest lines, or those after `afterId`; oldest first; at most 500. */
  log(taskId: string, afterId: string | null): Promise<LogLine[]>
  artifact(taskId: string, artifactId: string): Promise<Artifact | undefined>
  /** Who ran what lately, and what runs: at most `recentLimits` rows, no locks. */
  recentAttempts(window: RecentWindow): Promise<RecentAttempts>
  /**
   * The monitoring probes: bounded cost, no locks. Aborting gives the reading up. Measured by `npm run bench -- monitor`
   * (docs/performance.md).
   */
  read(signal?: AbortSignal): Promise<QueueReading>

  close(): Promise<void>
}
