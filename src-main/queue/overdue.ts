import { AppError, nextState, type AttemptError, type TaskState } from '../kernel/index.ts'
import { decideRetry, type FailedAttempt } from './retry.ts'

/** The error of an attempt whose lease ran out. */
export const leaseExpired: AttemptError = {
  code: 'LEASE_EXPIRED',
  class: 'retryable',
  message: 'The worker did not renew its lease in time: it was stopped, crashed, or lost the database.'
}

/** The error of a task whose deadline passed before it began. */
export const deadlinePassed: AttemptError = {
  code: 'DEADLINE',
  class: 'final',
  message: 'The deadline passed before a worker took the task.'
}

/** Where a task goes on; `delayMs` only to RETRY_WAIT. */
export interface AfterExpiry {
  readonly state: TaskState
  readonly delayMs: number | null
}

/**
 * As if the worker had reported a retryable failure. Asked to stop, a task gets no further attempt, and none was refused to it either: it ends
 * as cancelled.
 */
export function afterExpiry(from: TaskState, attempt: Omit<FailedAttempt, 'error'>): AfterExpiry {
  const cancelled = nextState(from, 'acknowledgeCancel')
  if (cancelled) return { state: cancelled, delayMs: null }
  const decision = decideRetry({ ...attempt, error: leaseExpired })
  if (decision.outcome === 'FAILED') return { state: reached(from, 'fail'), delayMs: null }
  return { state: reached(from, 'retryLater'), delayMs: decision.delayMs }
}

export const afterDeadline = (from: TaskState): TaskState => reached(from, 'passDeadline')

function reached(from: TaskState, event: 'fail' | 'retryLater' | 'passDeadline'): TaskState {
  const to = nextState(from, event)
  if (!to) throw new AppError('BUG', 'bug', `${event} leads nowhere from ${from}`)
  return to
}
