import type { Clock, TaskState } from '../../kernel/index.ts'
import { afterDeadline, afterExpiry, deadlinePassed, leaseExpired } from '../overdue.ts'
import type { Recovered } from '../task-store.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { writeDeadLetter } from './deaths.ts'
import { finishEndings, noteEnding } from './endings.ts'
import { finishAttempt } from './settle.ts'
import { effectivePolicies } from './policies.ts'
import { retryDelay, type RetryTerms } from './retry-delays.ts'
import { isLeased, isUnderDeadline } from './states.ts'
import { ownTerms, type OwnColumns } from './task-rows.ts'
import { forgetWorkers, hasForgotten } from './workers.ts'

export const expiredLeases = `
SELECT CAST(id AS TEXT) AS id, type, state, worker_id, attempt, attempts_used, max_attempts, retry_policy,
  timeout_ms
FROM taskdeck_task INDEXED BY taskdeck_task_lease
WHERE lease_until IS NOT NULL AND ${isLeased} AND lease_until <= :at ORDER BY lease_until LIMIT :limit`

export const passedDeadlines = `
SELECT CAST(id AS TEXT) AS id, type, state, has_dependents FROM taskdeck_task INDEXED BY taskdeck_task_deadline
WHERE deadline_at IS NOT NULL AND ${isUnderDeadline} AND deadline_at <= :at ORDER BY deadline_at LIMIT :limit`

const failByDeadline = `
UPDATE taskdeck_task
SET state = :to, state_since = :at, finished_at = :at, error_code = :code, error_class = :class, error_message = :message
WHERE id = :id AND state = :from`

interface ExpiredRow extends OwnColumns {
  readonly id: string
  readonly type: string
  readonly state: TaskState
  /** null only in a row that the engine would never write. */
  readonly worker_id: string | null
  readonly attempt: number
  readonly attempts_used: number
}

interface LateRow {
  readonly id: string
  readonly type: string
  readonly state: TaskState
  readonly has_dependents: number
}

/** What it finds cannot change before it writes: both happen under one write lock, which is taken only when there is something. */
export async function recover(file: QueueFile, clock: Clock, limit: number): Promise<Recovered[]> {
  const found = await file.read((session) => {
    const one = { at: session.at, limit: 1 }
    const hasTasks = session.get(expiredLeases, one) !== undefined || session.get(passedDeadlines, one) !== undefined
    return hasTasks || hasForgotten(session)
  })
  const most = Math.floor(limit)
  if (!(most >= 1)) return []
  const ended = found ? await file.write((session) => endOverdue(session, clock, most)) : []
  return [...ended, ...(await finishEndings(file, most))]
}

function endOverdue(session: Session, clock: Clock, limit: number): Recovered[] {
  const parameters = { at: session.at, limit }
  const expired = session.all<ExpiredRow>(expiredLeases, parameters)
  const late = session.all<LateRow>(passedDeadlines, parameters)
  forgetWorkers(session)
  const terms = { policies: effectivePolicies(session), clock }
  return [...expired.map((row) => endExpired(session, row, terms)), ...late.map((row) => endLate(session, row))]
}

function endExpired(session: Session, row: ExpiredRow, terms: RetryTerms): Recovered {
  const { type, state: from } = row
  const { maxAttempts, retryPolicy: policy } = terms.policies.ofTask(type, ownTerms(row))
  const attempt = { attemptsUsed: row.attempts_used, maxAttempts, policy, random: () => terms.clock.random() }
  const { state: to, delayMs } = afterExpiry(from, attempt)
  const held = { taskId: BigInt(row.id), workerId: row.worker_id, attempt: row.attempt }
  finishAttempt(session, held, {
    ...{ from, to, outcome: 'LEASE_EXPIRED', error: leaseExpired },
    ...(delayMs !== null && { delayMs: delayMs + retryDelay(session, type, terms) })
  })
  return { taskId: row.id, type, reason: 'LEASE_EXPIRED', state: to }
}

function endLate(session: Session, row: LateRow): Recovered {
  const to = afterDeadline(row.state)
  const id = BigInt(row.id)
  session.run(failByDeadline, { id, at: session.at, from: row.state, to, ...deadlinePassed })
  writeDeadLetter(session, id, 'DEADLINE')
  if (row.has_dependents === 1) noteEnding(session, id)
  return { taskId: row.id, type: row.type, reason: 'DEADLINE', state: to }
}
