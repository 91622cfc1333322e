import { isTerminal, type AttemptError, type AttemptOutcome, type Clock, type TaskState } from '../../kernel/index.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { tellDependents } from '../dependents.ts'
import { changesError, clampDelay, resolveSettlement, stateAfterRepeat } from '../retry.ts'
import { storableArtifact, storableError, storableResult } from '../stored-text.ts'
import type { NewArtifact, Recovered, Settlement, SettleResult } from '../task-store.ts'
import { writeDeadLetter } from './deaths.ts'
import { finishSome, hasEndings, noteEnding, settleDependents } from './endings.ts'
import { fenceParameters, recordProgress } from './lease.ts'
import { effectivePolicies } from './policies.ts'
import type { Parameters, QueueFile, Session } from './queue-file.ts'
import { retryDelay, type RetryTerms } from './retry-delays.ts'
import { holdsFence } from './states.ts'
import { toMicroseconds } from './task-rows.ts'

const findHeld = `SELECT state, type FROM taskdeck_task WHERE ${holdsFence}`

/** A settlement that was accepted left this row; the task may have gone on since. */
const findEnded = `
SELECT a.outcome, t.state, t.attempt FROM taskdeck_attempt a JOIN taskdeck_task t ON t.id = a.task_id
WHERE a.task_id = :taskId AND a.attempt = :attempt AND a.worker_id = :workerId`

/** A row that is there already was not written by us (the fence ends an attempt once): it stays, and keeps nothing from ending. */
const writeAttempt = `
INSERT INTO taskdeck_attempt (
  task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome, error_code, error_class, error_message,
  progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped
)
SELECT id, attempt, type, COALESCE(worker_id, ''), COALESCE(due_at, run_at), COALESCE(started_at, state_since), :at, :outcome, :errorCode, :errorClass, :errorMessage,
  progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped
FROM taskdeck_task WHERE ${holdsFence}
ON CONFLICT DO NOTHING`

const endAttempt = `
UPDATE taskdeck_task
SET state = :to, state_since = :at, lease_until = NULL, finished_at = :finishedAt, run_at = COALESCE(:runAt, run_at),
  attempts_used = attempts_used - :uncounted,
  result = :result,
  error_code = CASE WHEN :setsError THEN :errorCode ELSE error_code END,
  error_class = CASE WHEN :setsError THEN :errorClass ELSE error_class END,
  error_message = CASE WHEN :setsError THEN :errorMessage ELSE error_message END
WHERE ${holdsFence} AND state = :from
RETURNING has_dependents`

const writeArtifact = `
INSERT INTO taskdeck_artifact (task_id, attempt, name, content_type, bytes, host, path, created_at, expires_at)
VALUES (:taskId, :attempt, :name, :contentType, :bytes, :host, :path, :at, :expiresAt)`

/** How an attempt ends, whoever ends it. */
export interface AttemptEnd {
  readonly from: TaskState
  readonly to: TaskState
  readonly outcome: AttemptOutcome
  readonly error: AttemptError | null
  /** Milliseconds from now; only to RETRY_WAIT. */
  readonly delayMs?: number
  /** Only when the attempt has one. */
  readonly result?: string | null
}

export async function settle(
  file: QueueFile,
  settlements: readonly Settlement[],
  clock: Clock
): Promise<SettleResult[]> {
  if (settlements.length === 0) return []
  let dependents: Recovered[] = []
  let leavesDependents = false
  const results = await file.write((session) => {
    const retries = settlements.some(({ outcome }) => outcome === 'RETRY')
    const policies = retries ? effectivePolicies(session) : EffectivePolicies.none
    const settled = settlements.map((settlement) => ({
      fence: settlement.fence,
      state: settleOne(session, settlement, { policies, clock })
    }))
    dependents = settleDependents(session)
    leavesDependents = hasEndings(session)
    return settled
  })
  return tellDependents(results, leavesDependents ? [...dependents, ...(await finishSome(file))] : dependents)
}

function settleOne(session: Session, settlement: Settlement, terms: RetryTerms): TaskState | undefined {
  const held = fenceParameters(settlement.fence)
  if (!held) return undefined
  const task = session.get<{ state: TaskState; type: string }>(findHeld, held)
  if (!task) return repeated(session, held, settlement)
  const from = task.state
  const to = resolveSettlement(from, settlement)
  if (to === undefined) return undefined
  if (settlement.progress) recordProgress(session, { fence: settlement.fence, progress: settlement.progress })
  for (const artifact of settlement.artifacts ?? []) addArtifact(session, held, artifact)
  finishAttempt(session, held, {
    from,
    to,
    outcome: settlement.outcome,
    error: 'error' in settlement ? storableError(settlement.error) : null,
    ...('delayMs' in settlement && to === 'RETRY_WAIT'
      ? { delayMs: settlement.delayMs + retryDelay(session, task.type, terms) }
      : {}),
    ...('result' in settlement ? { result: storableResult(settlement.result) } : {})
  })
  return to
}

/** Writes the attempt's row and dead letter, moves the task on and notes that others wait for it; `held` must be a fence that holds. */
export function finishAttempt(session: Session, held: Parameters, end: AttemptEnd): void {
  const { at } = session
  const { from, to, outcome } = end
  const errorColumns = {
    errorCode: end.error?.code ?? null,
    errorClass: end.error?.class ?? null,
    errorMessage: end.error?.message ?? null
  }
  session.run(writeAttempt, { ...held, at, outcome, ...errorColumns })
  const ended = session.get<{ has_dependents: number }>(endAttempt, {
    ...held,
    ...errorColumns,
    at,
    from,
    to,
    finishedAt: isTerminal(to) ? at : null,
    runAt: to === 'RETRY_WAIT' ? at + toMicroseconds(clampDelay(end.delayMs ?? 0)) : null,
    uncounted: outcome === 'HANDED_BACK' ? 1 : 0,
    setsError: changesError(end) ? 1 : 0,
    result: end.result ?? null
  })
  const id = held['taskId'] as bigint
  if (to === 'FAILED') writeDeadLetter(session, id, 'ATTEMPT')
  if (isTerminal(to) && ended?.has_dependents === 1) noteEnding(session, id)
}

/** The state that the same settlement led to when it was accepted; undefined when it never was. */
function repeated(session: Session, held: Parameters, settlement: Settlement): TaskState | undefined {
  const ended = session.get<{ outcome: AttemptOutcome; state: TaskState; attempt: number }>(findEnded, held)
  return ended?.outcome === settlement.outcome ? stateAfterRepeat(settlement, ended) : undefined
}

function addArtifact(session: Session, held: Parameters, artifact: NewArtifact): void {
  const { taskId, attempt } = held as { taskId: bigint; attempt: number }
  session.run(writeArtifact, {
    taskId,
    attempt,
    at: session.at,
    ...storableArtifact(artifact),
    expiresAt: session.at + toMicroseconds(clampDelay(artifact.expiresInMs))
  })
}
