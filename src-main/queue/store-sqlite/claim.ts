import { notLimited, Turns } from '../claim-room.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import { effectKey } from '../idempotency.ts'
import { clampLease } from '../retry.ts'
import type { ClaimedTask, ClaimRequest } from '../task-store.ts'
import { checkWorkerId } from '../worker-values.ts'
import { choose } from './claim-choice.ts'
import type { QueueFile } from './queue-file.ts'
import { isWaiting } from './states.ts'
import { ownTerms, toMicroseconds } from './task-rows.ts'

const takeLease = `
UPDATE taskdeck_task
SET state = 'RUNNING', state_since = :at, attempt = attempt + 1, attempts_used = attempts_used + 1,
  worker_id = :workerId, lease_until = :leaseUntil, lease_ms = :leaseMs, due_at = run_at, started_at = :at,
  progress_total = NULL, progress_processed = NULL, progress_succeeded = NULL, progress_failed = NULL, progress_skipped = NULL
WHERE id = :id AND ${isWaiting}
RETURNING CAST(id AS TEXT) AS id, attempt, type, payload, title, owner, business_key, attempts_used, max_attempts,
  retry_policy, timeout_ms, lease_ms, checkpoint, created_at, idempotency_hash`

interface ClaimedRow {
  readonly id: string
  readonly attempt: number
  readonly type: string
  readonly payload: string
  readonly title: string
  readonly owner: string
  readonly business_key: string | null
  readonly attempts_used: number
  readonly max_attempts: number | null
  readonly retry_policy: string | null
  readonly timeout_ms: number | null
  readonly lease_ms: number
  readonly checkpoint: string | null
  readonly created_at: number
  readonly idempotency_hash: Uint8Array | null
}

/** Claims of one store. Remembers whose turn it is. */
export class Claims {
  private readonly file: QueueFile
  private readonly turns = new Turns()

  constructor(file: QueueFile) {
    this.file = file
  }

  /** Choosing and taking happen under one write lock, so two claimers never choose the same task. */
  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    checkWorkerId(request.workerId)
    const limit = Math.floor(request.limit)
    const types = [...new Set(request.types)]
    if (types.length === 0 || !(limit >= 1)) return []
    // An idle worker polls often: it must not take the write lock from others to find nothing.
    const first = await this.file.read((session) => choose(session, { types, limit: 1, turns: this.turns }))
    if (first.due.length === 0) {
      first.passOn()
      if (first.limitedBy.types.length > 0) request.onLimited?.(first.limitedBy)
      return []
    }
    let limitedBy = notLimited
    const tasks = await this.file.write((session) => {
      const { due, policies, record, ...rest } = choose(session, { types, limit, turns: this.turns })
      limitedBy = rest.limitedBy
      const claimed = due.map(({ id, type }) => {
        const { at } = session
        const leaseMs = clampLease(policies.ofType(type).leaseMs ?? request.leaseMs)
        const leaseUntil = at + toMicroseconds(leaseMs)
        const row = session.get<ClaimedRow>(takeLease, { id, at, workerId: request.workerId, leaseUntil, leaseMs })
        return toClaimed(row!, request.workerId, policies)
      })
      record()
      return claimed
    })
    if (tasks.length < limit && limitedBy.types.length > 0) request.onLimited?.(limitedBy)
    return tasks
  }
}

function toClaimed(row: ClaimedRow, workerId: string, policies: EffectivePolicies): ClaimedTask {
  return {
    fence: { taskId: row.id, workerId, attempt: row.attempt },
    type: row.type,
    payload: row.payload,
    title: row.title,
    owner: row.owner,
    businessKey: row.business_key,
    attemptsUsed: row.attempts_used,
    ...policies.ofTask(row.type, ownTerms(row)),
    leaseMs: row.lease_ms,
    checkpoint: row.checkpoint,
    idempotencyKey: effectKey({ taskId: row.id, createdAt: row.created_at, idempotencyHash: row.idempotency_hash })
  }
}
