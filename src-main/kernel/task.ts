import { z } from 'zod'
import { operatorActions, taskStates } from './task-state.ts'

/** Task ids are decimal strings everywhere: BIGINT does not fit a JavaScript number. */
export const taskId = z.string().regex(/^[1-9]\d{0,19}$/, 'a task id is a positive whole number')
export const taskState = z.enum(taskStates)
export const operatorAction = z.enum(operatorActions)

/** Limits of what is stored. Bytes are UTF-8. */
export const taskLimits = {
  typeLength: 100,
  ownerLength: 100,
  titleLength: 200,
  keyLength: 200,
  /** Who replayed or discarded a dead letter. */
  actorLength: 128,
  payloadBytes: 1_048_576,
  resultBytes: 65_536,
  checkpointBytes: 65_536,
  errorMessageBytes: 4_096,
  logMessageBytes: 4_096,
  artifactBytes: 16_777_216,
  /** Tasks, bytes of payload, and tasks to wait for, that are submitted all or none. */
  submitBatch: 10_000,
  submitBytes: 33_554_432,
  submitDependencies: 20_000,
  /** Tasks that one task may wait for. */
  dependencies: 1_000,
  priorities: 10
} as const

/** 0 is the most urgent. A closed set: the claim reads one index range per priority (ENGINE: traps 2 and 7). */
export const priority = z
  .int()
  .min(0)
  .max(taskLimits.priorities - 1)

export const taskType = z
  .string()
  .max(taskLimits.typeLength)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'a task type has letters, digits and . _ : - only')

/** How long to wait before the next attempt; see `queue/retry.ts`. What is in effect: a name is looked up by then. */
export const retryPolicy = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('exponential'),
    baseMs: z.int().min(0),
    capMs: z.int().min(0),
    /** The part of a delay that chance adds to it at most. */
    jitter: z.number().min(0).max(1).default(0.2)
  }),
  z.object({ kind: z.literal('list'), delaysMs: z.array(z.int().min(0)).min(1).max(20) })
])
export type RetryPolicy = z.infer<typeof retryPolicy>

/** What a task or a policy may say: delays of its own, or the name of those that operators keep among the policies (scope DELAYS). */
export const retryChoice = z.discriminatedUnion('kind', [
  ...retryPolicy.options,
  z.object({ kind: z.literal('named'), name: z.string().min(1).max(taskLimits.typeLength) })
])
export type RetryChoice = z.infer<typeof retryChoice>

/** Base 5 s, doubled up to six times, cap 300 s, up to 20 % of random jitter (requirements, section 4). */
export const defaultRetryPolicy: RetryPolicy = { kind: 'exponential', baseMs: 5_000, capMs: 300_000, jitter: 0.2 }

/** What becomes of a task when one that it waits for ends FAILED or CANCELLED: FAILED too, or as if that one had ended well. */
export const afterFailure = z.enum(['FAIL', 'RELEASE'])
export type AfterFailure = z.infer<typeof afterFailure>

/** What a producer hands in. `payload` is JSON text, stored as it is. Times are milliseconds since the epoch, UTC. */
export const newTask = z.object({
  type: taskType,
  payload: z.string(),
  owner: z.string().max(taskLimits.ownerLength).default(''),
  title: z.string().max(taskLimits.titleLength).default(''),
  businessKey: z.string().max(taskLimits.keyLength).nullable().default(null),
  partitionKey: z.string().max(taskLimits.keyLength).nullable().default(null),
  idempotencyKey: z.string().min(1).max(taskLimits.keyLength).nullable().default(null),
  priority: priority.default(5),
  /** Not before; null is at once, by the database's clock. */
  runAt: z.number().nullable().default(null),
  deadlineAt: z.number().nullable().default(null),
  // Null in the next three: what the policy of the type says when the task is claimed or fails.
  /** Longest run of one attempt; without one anywhere it is not limited beyond the lease, which heartbeats renew. */
  timeoutMs: z.int().positive().nullable().default(null),
  maxAttempts: z.int().min(1).max(1000).nullable().default(null),
  retryPolicy: retryChoice.nullable().default(null),
  /** Held in CREATED until it is released. */
  held: z.boolean().default(false),
  /** Ids of tasks that have to end first; until then it is CREATED. SUCCESS and PARTIAL_SUCCESS are good ends. */
  after: z.array(taskId).max(taskLimits.dependencies).default([]),
  afterFailure: afterFailure.default('FAIL')
})
export type NewTask = z.infer<typeof newTask>
export type NewTaskInput = z.input<typeof newTask>

/** Every write to a running task names all three; the numbers of attempts only grow, hand-backs included. */
export interface Fence {
  readonly taskId: string
  readonly workerId: string
  readonly attempt: number
}

export const progress = z.object({
  total: z.int().min(0).nullable(),
  processed: z.int().min(0),
  succeeded: z.int().min(0),
  failed: z.int().min(0),
  skipped: z.int().min(0)
})
export type Progress = z.infer<typeof progress>

/** How one attempt ended. */
export const attemptOutcomes = [
  'SUCCESS',
  'PARTIAL_SUCCESS',
  'RETRY',
  'FAILED',
  'CANCELLED',
  'HANDED_BACK',
  'LEASE_EXPIRED'
] as const
export const attemptOutcome = z.enum(attemptOutcomes)
export type AttemptOutcome = z.infer<typeof attemptOutcome>

/** `retryable` and `resource` errors earn another attempt (the latter bounded), `final` ones do not. */
export const errorClass = z.enum(['retryable', 'final', 'resource'])
export type ErrorClass = z.infer<typeof errorClass>
export const attemptError = z.object({ code: z.string().max(64), message: z.string(), class: errorClass })
export type AttemptError = z.infer<typeof attemptError>

/** One execution of a task. The running one (outcome null) is read from the task's own row. */
export const attempt = z.object({
  attempt: z.int().positive(),
  workerId: z.string(),
  /** When it became due: `startedAt - dueAt` is the pick-up latency. */
  dueAt: z.number(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  outcome: attemptOutcome.nullable(),
  error: attemptError.nullable(),
  progress: progress.nullable()
})
export type Attempt = z.infer<typeof attempt>

/** A row of the task list. */
export const taskSummary = z.object({
  id: taskId,
  type: z.string(),
  state: taskState,
  owner: z.string(),
  title: z.string(),
  businessKey: z.string().nullable(),
  priority: z.int(),
  /** Claims so far; the fence. */
  attempt: z.int().min(0),
  /** Attempts that count against `maxAttempts` (hand-backs do not; an operator's retry starts again). */
  attemptsUsed: z.int().min(0),
  /** Its own, or what the policy of its type says now. So are the timeout and the retry policy. */
  maxAttempts: z.int(),
  workerId: z.string().nullable(),
  leaseUntil: z.number().nullable(),
  createdAt: z.number(),
  runAt: z.number(),
  stateSince: z.number(),
  startedAt: z.number().nullable(),
  finishedAt: z.number().nullable(),
  deadlineAt: z.number().nullable(),
  timeoutMs: z.int().nullable(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  progress: progress.nullable()
})
export type TaskSummary = z.infer<typeof taskSummary>

/** A file that an attempt left. It stays on the worker's host; the row holds its path and when it may be removed. */
export const artifact = z.object({
  id: z.string(),
  attempt: z.int().positive(),
  name: z.string(),
  contentType: z.string(),
  bytes: z.int().min(0),
  host: z.string(),
  path: z.string(),
  createdAt: z.number(),
  expiresAt: z.number()
})
export type Artifact = z.infer<typeof artifact>

export const logLevel = z.enum(['debug', 'info', 'warn', 'error'])
export type LogLevel = z.infer<typeof logLevel>
export const logLine = z.object({
  id: z.string(),
  attempt: z.int(),
  at: z.number(),
  level: logLevel,
  message: z.string()
})
export type LogLine = z.infer<typeof logLine>

/** A task that another one waits or waited for. */
export const dependency = z.object({
  taskId,
  /** Its state now; null when it was removed. */
  state: taskState.nullable(),
  afterFailure
})
export type Dependency = z.infer<typeof dependency>

/** Everything about one task. Payload and result are JSON text, unmasked: mask before they leave the main process. */
export const taskDetail = taskSummary.extend({
  payload: z.string(),
  result: z.string().nullable(),
  checkpoint: z.string().nullable(),
  partitionKey: z.string().nullable(),
  hasIdempotencyKey: z.boolean(),
  retryPolicy,
  /** Oldest first, the running one included. */
  attempts: z.array(attempt),
  artifacts: z.array(artifact),
  /** What it was submitted to run after. In CREATED it waits for those that have not ended. */
  waitsFor: z.array(dependency)
})
export type TaskDetail = z.infer<typeof taskDetail>

/** All conditions must hold; an empty list or null means any. */
export const taskFilter = z.object({
  states: z.array(taskState).default([]),
  types: z.array(z.string().max(taskLimits.typeLength)).max(50).default([]),
  owner: z.string().max(taskLimits.ownerLength).nullable().default(null),
  workerId: z.string().max(100).nullable().default(null),
  errorCode: z.string().max(64).nullable().default(null),
  /** An id, a business key or the start of a title. */
  search: z.string().max(taskLimits.keyLength).nullable().default(null),
  createdFrom: z.number().nullable().default(null),
  createdTo: z.number().nullable().default(null)
})
export type TaskFilter = z.infer<typeof taskFilter>
