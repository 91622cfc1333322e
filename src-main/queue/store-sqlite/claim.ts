import { taskLimits } from '../../kernel/index.ts'
import { effectKey } from '../idempotency.ts'
import { clampDelay } from '../retry.ts'
import { storedRetryPolicy } from '../stored-policy.ts'
import type { ClaimedTask, ClaimRequest } from '../task-store.ts'
import { checkWorkerId } from '../worker-values.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { isWaiting } from './states.ts'
import { toMicroseconds } from './task-rows.ts'

/**
 * One range of the claim's index: a type, a priority, what is due of it, in the order of the claim. A task whose deadline
 * passed is left for recovery to fail. The unary plus hides the parameters from the planner: SQLite else compiles a statement with
 * an equality and an ORDER BY anew whenever its parameters change (5 µs instead of 0.7).
 */
export const dueOfOneRange = `
SELECT id, run_at FROM taskdeck_task INDEXED BY taskdeck_task_claim
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND run_at <= :at
  AND (deadline_at IS NULL OR deadline_at > :at)
ORDER BY run_at, id LIMIT :limit`

const takeLease = `
UPDATE taskdeck_task
SET state = 'RUNNING', state_since = :at, attempt = attempt + 1, attempts_used = attempts_used + 1,
  worker_id = :workerId, lease_until = :leaseUntil, due_at = run_at, started_at = :at,
  progress_total = NULL, progress_processed = NULL, progress_succeeded = NULL, progress_failed = NULL, progress_skipped = NULL
WHERE id = :id AND ${isWaiting}
RETURNING CAST(id AS TEXT) AS id, attempt, type, payload, title, owner, business_key, attempts_used, max_attempts,
  retry_policy, timeout_ms, checkpoint, created_at, idempotency_hash`

interface DueTask {
  readonly id: number
  readonly run_at: number
}

interface ClaimedRow {
  readonly id: string
  readonly attempt: number
  readonly type: string
  readonly payload: string
  readonly title: string
  readonly owner: string
  readonly business_key: string | null
  readonly attempts_used: number
  readonly max_attempts: number
  readonly retry_policy: string
  readonly timeout_ms: number | null
  readonly checkpoint: string | null
  readonly created_at: number
  readonly idempotency_hash: Uint8Array | null
}

/** Choosing and taking happen under one write lock, so two claimers never choose the same task. */
export async function claim(file: QueueFile, request: ClaimRequest): Promise<ClaimedTask[]> {
  checkWorkerId(request.workerId)
  const limit = Math.floor(request.limit)
  const types = [...new Set(request.types)]
  if (types.length === 0 || !(limit >= 1)) return []
  // An idle worker polls often: it must not take the write lock from others to find nothing.
  const anyDue = await file.read((session) => dueTasks(session, types, 1).length > 0)
  if (!anyDue) return []
  return file.write((session) => {
    const leaseUntil = session.at + toMicroseconds(clampDelay(request.leaseMs))
    return dueTasks(session, types, limit).map(({ id }) => {
      const { at } = session
      const row = session.get<ClaimedRow>(takeLease, { id, at, workerId: request.workerId, leaseUntil })
      return toClaimed(row!, request.workerId)
    })
  })
}

/** Priority by priority; within one, the types' ranges merged by due time. Reads at most `limit` index entries a range. */
function dueTasks(session: Session, types: readonly string[], limit: number): DueTask[] {
  const due: DueTask[] = []
  for (let priority = 0; priority < taskLimits.priorities && due.length < limit; priority++) {
    const left = limit - due.length
    const ranges = types.map((type) =>
      session.all<DueTask>(dueOfOneRange, { type, priority, at: session.at, limit: left })
    )
    due.push(...merged(ranges).slice(0, left))
  }
  return due
}

function merged(ranges: readonly DueTask[][]): DueTask[] {
  const filled = ranges.filter((range) => range.length > 0)
  if (filled.length <= 1) return filled[0] ?? []
  return filled.flat().sort((a, b) => a.run_at - b.run_at || a.id - b.id)
}

function toClaimed(row: ClaimedRow, workerId: string): ClaimedTask {
  return {
    fence: { taskId: row.id, workerId, attempt: row.attempt },
    type: row.type,
    payload: row.payload,
    title: row.title,
    owner: row.owner,
    businessKey: row.business_key,
    attemptsUsed: row.attempts_used,
    maxAttempts: row.max_attempts,
    retryPolicy: storedRetryPolicy(row.retry_policy),
    timeoutMs: row.timeout_ms,
    checkpoint: row.checkpoint,
    idempotencyKey: effectKey({ taskId: row.id, createdAt: row.created_at, idempotencyHash: row.idempotency_hash })
  }
}
