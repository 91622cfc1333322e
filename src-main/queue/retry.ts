import { nextState } from '../kernel/index.ts'
import type { AttemptError, AttemptOutcome, RetryPolicy, TaskEvent, TaskState } from '../kernel/index.ts'
import type { Settlement } from './task-store.ts'

/** No delay is longer than this (one year, ms): further away the databases' dates overflow. */
export const longestDelayMs = 31_536_000_000

/** A resource error (pool full, disk full) never comes back sooner than this (ms): an immediate retry would meet the same shortage. */
export const resourceRetryFloorMs = 1_000

/** The exponent of the exponential policy grows no further than this: 2^6 = 64 times the base. */
const largestExponent = 6

export type RetryDecision = { readonly outcome: 'RETRY'; readonly delayMs: number } | { readonly outcome: 'FAILED' }

export interface FailedAttempt {
  readonly error: AttemptError
  /** Counted attempts, the failed one included. */
  readonly attemptsUsed: number
  readonly maxAttempts: number
  readonly policy: RetryPolicy
  /** A number in [0, 1), as `Clock.random`. */
  readonly random: () => number
}

/**
 * What a failed attempt leads to. `final` errors and used-up attempts fail; the rest is retried after the policy's delay,
 * which bounds resource errors too.
 */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  if (failed.error.class === 'final') return { outcome: 'FAILED' }
  if (failed.attemptsUsed >= failed.maxAttempts) return { outcome: 'FAILED' }
  const delayMs = retryDelayMs(failed.policy, failed.attemptsUsed, failed.random)
  const floor = failed.error.class === 'resource' ? resourceRetryFloorMs : 0
  return { outcome: 'RETRY', delayMs: Math.max(floor, delayMs) }
}

/**
 * Whole milliseconds before the attempt that follows the `attemptsUsed`-th. Exponential:
 * min(cap, base * 2^min(n-1, 6)) plus up to `jitter` of it at random, so that tasks that failed together do not come back
 * together. List: the n-th delay, then its last one for ever.
 */
export function retryDelayMs(policy: RetryPolicy, attemptsUsed: number, random: () => number): number {
  const n = Math.max(1, attemptsUsed)
  if (policy.kind === 'list') return clampDelay(policy.delaysMs[Math.min(n, policy.delaysMs.length) - 1] ?? 0)
  const delay = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(n - 1, largestExponent))
  return clampDelay(delay + delay * policy.jitter * random())
}

/** Of an INT UNSIGNED column: some 49 days. */
const longestLeaseMs = 4_294_967_295

/** Of a leased row that someone else wrote without saying how long (ms). */
export const unknownLeaseMs = 30_000

/** A lease that every store can keep (ms). */
export const clampLease = (ms: number): number => Math.min(longestLeaseMs, Math.max(1, clampDelay(ms)))

/** A delay that every store can add to its clock; what is no number is no delay. */
export function clampDelay(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(longestDelayMs, Math.max(0, Math.round(ms)))
}

const eventOf: Readonly<Record<Settlement['outcome'], TaskEvent>> = {
  SUCCESS: 'succeed',
  PARTIAL_SUCCESS: 'succeedPartially',
  RETRY: 'retryLater',
  FAILED: 'fail',
  CANCELLED: 'acknowledgeCancel',
  HANDED_BACK: 'handBack'
}

/** The state that a settlement leads to from `current`; undefined when the table of transitions forbids it. */
export function resolveSettlement(current: TaskState, settlement: Pick<Settlement, 'outcome'>): TaskState | undefined {
  return nextState(current, eventOf[settlement.outcome])
}

/** What a settlement that was accepted led to, when it comes again; `task` may have gone on since. */
export function stateAfterRepeat(
  { outcome, fence }: Pick<Settlement, 'outcome' | 'fence'>,
  task: { readonly state: TaskState; readonly attempt: number }
): TaskState | undefined {
  if (outcome !== 'RETRY' && outcome !== 'HANDED_BACK') return outcome
  // A task that was asked to stop ends as cancelled, whatever its worker had in mind.
  if (task.state === 'CANCELLED' && task.attempt === fence.attempt) return 'CANCELLED'
  return resolveSettlement('RUNNING', { outcome })
}

/** Whether an attempt's end sets the task's error: success clears that of earlier attempts; a hand-back or a cancellation leaves it. */
export const changesError = (end: { readonly error: AttemptError | null; readonly outcome: AttemptOutcome }): boolean =>
  end.error !== null || end.outcome === 'SUCCESS' || end.outcome === 'PARTIAL_SUCCESS'
