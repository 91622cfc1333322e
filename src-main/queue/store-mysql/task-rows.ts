import {
  isTerminal,
  leasedStates,
  type Artifact,
  type Attempt,
  type AttemptError,
  type AttemptOutcome,
  type ErrorClass,
  type LogLevel,
  type LogLine,
  type Progress,
  type SqlRow,
  type TaskDetail,
  type TaskState,
  type TaskSummary
} from '../../kernel/index.ts'
import type { EffectivePolicies, OwnTerms } from '../effective-policy.ts'
import { retryPolicyOrNull } from '../stored-policy.ts'
import { count, countOrNull, text, textOrNull, time, timeOrNull } from './row-values.ts'

const progressColumns = 'progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped'

export const summaryColumns = `id, type, state, owner, title, business_key, priority, attempt, attempts_used, max_attempts,
  worker_id, lease_until, created_at, run_at, state_since, started_at, finished_at, deadline_at, timeout_ms, error_code,
  error_message, ${progressColumns}`

/** Columns max_attempts, retry_policy and timeout_ms. */
export const ownTerms = (row: SqlRow): OwnTerms => ({
  maxAttempts: countOrNull(row, 'max_attempts'),
  retryPolicy: retryPolicyOrNull(textOrNull(row, 'retry_policy')),
  timeoutMs: countOrNull(row, 'timeout_ms')
})

/** With what the policies say where the task itself does not. */
export function toSummary(row: SqlRow, policies: EffectivePolicies): TaskSummary {
  const policy = policies.ofType(text(row, 'type'))
  return {
    id: text(row, 'id'),
    type: text(row, 'type'),
    state: text(row, 'state') as TaskState,
    owner: text(row, 'owner'),
    title: text(row, 'title'),
    businessKey: textOrNull(row, 'business_key'),
    priority: count(row, 'priority'),
    attempt: count(row, 'attempt'),
    attemptsUsed: count(row, 'attempts_used'),
    maxAttempts: countOrNull(row, 'max_attempts') ?? policy.maxAttempts,
    workerId: textOrNull(row, 'worker_id'),
    leaseUntil: timeOrNull(row, 'lease_until'),
    createdAt: time(row, 'created_at'),
    runAt: time(row, 'run_at'),
    stateSince: time(row, 'state_since'),
    startedAt: timeOrNull(row, 'started_at'),
    finishedAt: timeOrNull(row, 'finished_at'),
    deadlineAt: timeOrNull(row, 'deadline_at'),
    timeoutMs: countOrNull(row, 'timeout_ms') ?? policy.timeoutMs,
    errorCode: textOrNull(row, 'error_code'),
    errorMessage: textOrNull(row, 'error_message'),
    progress: toProgress(row)
  }
}

export const detailColumns = `${summaryColumns}, payload, result, checkpoint, partition_key, retry_policy, due_at,
  idempotency_hash IS NOT NULL AS has_key`

export interface DetailParts extends Pick<TaskDetail, 'attempts' | 'artifacts' | 'waitsFor'> {
  readonly policies: EffectivePolicies
}

/** `attempts` oldest first; one that ended since the task was read replaces the running one. */
export function toDetail(row: SqlRow, { attempts, artifacts, waitsFor, policies }: DetailParts): TaskDetail {
  const summary = toSummary(row, policies)
  const leased = (leasedStates as readonly TaskState[]).includes(summary.state)
  const isRunning = leased && !attempts.some(({ attempt }) => attempt === summary.attempt)
  return {
    ...summary,
    payload: text(row, 'payload'),
    result: textOrNull(row, 'result'),
    checkpoint: textOrNull(row, 'checkpoint'),
    partitionKey: textOrNull(row, 'partition_key'),
    hasIdempotencyKey: count(row, 'has_key') === 1,
    retryPolicy: policies.ofTask(summary.type, ownTerms(row)).retryPolicy,
    attempts: isRunning ? [...attempts, runningAttempt(row, summary)] : attempts,
    artifacts,
    waitsFor
  }
}

/** The attempt that has no row of its own yet. */
function runningAttempt(row: SqlRow, summary: TaskSummary): Attempt {
  return {
    attempt: summary.attempt,
    workerId: summary.workerId ?? '',
    dueAt: timeOrNull(row, 'due_at') ?? summary.runAt,
    startedAt: summary.startedAt ?? summary.stateSince,
    endedAt: null,
    outcome: null,
    error: null,
    progress: summary.progress
  }
}

export const attemptColumns = `attempt, worker_id, due_at, started_at, ended_at, outcome, error_code, error_class,
  error_message, ${progressColumns}`

export function toAttempt(row: SqlRow): Attempt {
  return {
    attempt: count(row, 'attempt'),
    workerId: text(row, 'worker_id'),
    dueAt: time(row, 'due_at'),
    startedAt: time(row, 'started_at'),
    endedAt: time(row, 'ended_at'),
    outcome: text(row, 'outcome') as AttemptOutcome,
    error: toError(row),
    progress: toProgress(row)
  }
}

export const artifactColumns = 'id, attempt, name, content_type, bytes, host, path, created_at, expires_at'

export function toArtifact(row: SqlRow): Artifact {
  return {
    id: text(row, 'id'),
    attempt: count(row, 'attempt'),
    name: text(row, 'name'),
    contentType: text(row, 'content_type'),
    bytes: count(row, 'bytes'),
    host: text(row, 'host'),
    path: text(row, 'path'),
    createdAt: time(row, 'created_at'),
    expiresAt: time(row, 'expires_at')
  }
}

export const logColumns = 'id, attempt, at, level, message'

export function toLogLine(row: SqlRow): LogLine {
  return {
    id: text(row, 'id'),
    attempt: count(row, 'attempt'),
    at: time(row, 'at'),
    level: text(row, 'level') as LogLevel,
    message: text(row, 'message')
  }
}

function toProgress(row: SqlRow): Progress | null {
  const processed = countOrNull(row, 'progress_processed')
  if (processed === null) return null
  return {
    total: countOrNull(row, 'progress_total'),
    processed,
    succeeded: countOrNull(row, 'progress_succeeded') ?? 0,
    failed: countOrNull(row, 'progress_failed') ?? 0,
    skipped: countOrNull(row, 'progress_skipped') ?? 0
  }
}

function toError(row: SqlRow): AttemptError | null {
  const code = textOrNull(row, 'error_code')
  if (code === null) return null
  return {
    code,
    message: textOrNull(row, 'error_message') ?? '',
    class: (textOrNull(row, 'error_class') ?? 'retryable') as ErrorClass
  }
}

/** As a bound value: finished_at is set exactly in the terminal states. */
export const finished = (state: TaskState): 0 | 1 => (isTerminal(state) ? 1 : 0)
