import type {
  Artifact,
  Attempt,
  AttemptError,
  AttemptOutcome,
  ErrorClass,
  LogLevel,
  LogLine,
  Progress,
  TaskDetail,
  TaskState,
  TaskSummary
} from '../../kernel/index.ts'
import type { EffectivePolicies, OwnTerms } from '../effective-policy.ts'
import { retryPolicyOrNull } from '../stored-policy.ts'

/** Columns and their way to the port's values. Times are microseconds in the file and milliseconds at the port. */

const progressColumns = 'progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped'

interface ProgressColumns {
  readonly progress_total: number | null
  readonly progress_processed: number | null
  readonly progress_succeeded: number | null
  readonly progress_failed: number | null
  readonly progress_skipped: number | null
}

interface ErrorColumns {
  readonly error_code: string | null
  readonly error_class: string | null
  readonly error_message: string | null
}

/** The id is read as text: it may be larger than a JavaScript number. */
export const summaryColumns = `CAST(id AS TEXT) AS id, type, state, owner, title, business_key, priority, attempt,
  attempts_used, max_attempts, worker_id, lease_until, created_at, run_at, state_since, started_at, finished_at,
  deadline_at, timeout_ms, error_code, error_message, ${progressColumns}`

export interface SummaryRow extends ProgressColumns {
  readonly id: string
  readonly type: string
  readonly state: TaskState
  readonly owner: string
  readonly title: string
  readonly business_key: string | null
  readonly priority: number
  readonly attempt: number
  readonly attempts_used: number
  readonly max_attempts: number | null
  readonly worker_id: string | null
  readonly lease_until: number | null
  readonly created_at: number
  readonly run_at: number
  readonly state_since: number
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly deadline_at: number | null
  readonly timeout_ms: number | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** What the task itself says. */
export const ownTerms = (row: OwnColumns): OwnTerms => ({
  maxAttempts: row.max_attempts,
  retryPolicy: retryPolicyOrNull(row.retry_policy),
  timeoutMs: row.timeout_ms
})

export interface OwnColumns {
  readonly max_attempts: number | null
  readonly retry_policy: string | null
  readonly timeout_ms: number | null
}

/** With what the policies say where the task itself does not. */
export function toSummary(row: SummaryRow, policies: EffectivePolicies): TaskSummary {
  const policy = policies.ofType(row.type)
  return {
    id: row.id,
    type: row.type,
    state: row.state,
    owner: row.owner,
    title: row.title,
    businessKey: row.business_key,
    priority: row.priority,
    attempt: row.attempt,
    attemptsUsed: row.attempts_used,
    maxAttempts: row.max_attempts ?? policy.maxAttempts,
    workerId: row.worker_id,
    leaseUntil: toMs(row.lease_until),
    createdAt: row.created_at / 1000,
    runAt: row.run_at / 1000,
    stateSince: row.state_since / 1000,
    startedAt: toMs(row.started_at),
    finishedAt: toMs(row.finished_at),
    deadlineAt: toMs(row.deadline_at),
    timeoutMs: row.timeout_ms ?? policy.timeoutMs,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    progress: toProgress(row)
  }
}

export const detailColumns = `${summaryColumns}, payload, result, checkpoint, partition_key, retry_policy, due_at,
  idempotency_hash IS NOT NULL AS has_key`

export interface DetailRow extends SummaryRow {
  readonly payload: string
  readonly result: string | null
  readonly checkpoint: string | null
  readonly partition_key: string | null
  readonly retry_policy: string | null
  readonly due_at: number | null
  readonly has_key: number
}

export interface DetailParts {
  readonly attempts: readonly AttemptRow[]
  readonly artifacts: readonly ArtifactRow[]
  readonly waitsFor: TaskDetail['waitsFor']
  readonly policies: EffectivePolicies
}

export function toDetail(row: DetailRow, { attempts, artifacts, waitsFor, policies }: DetailParts): TaskDetail {
  const running = row.lease_until === null ? [] : [runningAttempt(row)]
  return {
    ...toSummary(row, policies),
    payload: row.payload,
    result: row.result,
    checkpoint: row.checkpoint,
    partitionKey: row.partition_key,
    hasIdempotencyKey: row.has_key === 1,
    retryPolicy: policies.ofTask(row.type, ownTerms(row)).retryPolicy,
    attempts: [...attempts.map(toAttempt), ...running],
    artifacts: artifacts.map(toArtifact),
    waitsFor
  }
}

/** The attempt that has no row of its own yet. */
function runningAttempt(row: DetailRow): Attempt {
  return {
    attempt: row.attempt,
    workerId: row.worker_id ?? '',
    dueAt: (row.due_at ?? row.run_at) / 1000,
    startedAt: (row.started_at ?? row.state_since) / 1000,
    endedAt: null,
    outcome: null,
    error: null,
    progress: toProgress(row)
  }
}

export const attemptColumns = `attempt, worker_id, due_at, started_at, ended_at, outcome, error_code, error_class,
  error_message, ${progressColumns}`

export interface AttemptRow extends ProgressColumns, ErrorColumns {
  readonly attempt: number
  readonly worker_id: string
  readonly due_at: number
  readonly started_at: number
  readonly ended_at: number
  readonly outcome: AttemptOutcome
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    attempt: row.attempt,
    workerId: row.worker_id,
    dueAt: row.due_at / 1000,
    startedAt: row.started_at / 1000,
    endedAt: row.ended_at / 1000,
    outcome: row.outcome,
    error: toError(row),
    progress: toProgress(row)
  }
}

export const artifactColumns = `CAST(id AS TEXT) AS id, attempt, name, content_type, bytes, host, path, created_at, expires_at`

export interface ArtifactRow {
  readonly id: string
  readonly attempt: number
  readonly name: string
  readonly content_type: string
  readonly bytes: number
  readonly host: string
  readonly path: string
  readonly created_at: number
  readonly expires_at: number
}

export function toArtifact(row: ArtifactRow): Artifact {
  return {
    id: row.id,
    attempt: row.attempt,
    name: row.name,
    contentType: row.content_type,
    bytes: row.bytes,
    host: row.host,
    path: row.path,
    createdAt: row.created_at / 1000,
    expiresAt: row.expires_at / 1000
  }
}

export interface LogRow {
  readonly id: string
  readonly attempt: number
  readonly at: number
  readonly level: LogLevel
  readonly message: string
}

export const toLogLine = (row: LogRow): LogLine => ({ ...row, at: row.at / 1000 })

export const toMs = (microseconds: number | null): number | null => (microseconds === null ? null : microseconds / 1000)

export const toMicroseconds = (ms: number): number => Math.round(ms * 1000)

function toProgress(row: ProgressColumns): Progress | null {
  if (row.progress_processed === null) return null
  return {
    total: row.progress_total,
    processed: row.progress_processed,
    succeeded: row.progress_succeeded ?? 0,
    failed: row.progress_failed ?? 0,
    skipped: row.progress_skipped ?? 0
  }
}

function toError(row: ErrorColumns): AttemptError | null {
  if (row.error_code === null) return null
  return {
    code: row.error_code,
    message: row.error_message ?? '',
    class: (row.error_class ?? 'retryable') as ErrorClass
  }
}
