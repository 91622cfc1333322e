import type { WitnessEvent } from './evidence.ts'
import type { RetryPolicy } from '../../src-main/kernel/index.ts'

/** Written anew from the requirements (section 4), not shared with the engine. */
const largestExponent = 6
/** Errors about resources never come back sooner (ms). */
const resourceFloorMs = 1_000
/** Rounding to milliseconds. */
const toleranceMs = 1

/** Says what is wrong with the delay before the next attempt, by the database's clock. Without a policy of its own a task may wait anything. */
export function checkRetryDelay(policy: RetryPolicy | null, event: WitnessEvent): string | undefined {
  const delay = event.nextDueInMs
  if (delay < -toleranceMs) return `its next attempt was due ${-delay} ms ago`
  if (!policy) return undefined
  const [least, most] = boundsOf(policy, Math.max(1, event.attemptsUsed))
  if (delay < least - toleranceMs || delay > Math.max(most, resourceFloorMs) + toleranceMs)
    return `waits ${delay} ms for attempt ${event.attemptAfter + 1}, not ${least} to ${most}`
  return undefined
}

function boundsOf(policy: RetryPolicy, attemptsUsed: number): [number, number] {
  if (policy.kind === 'list') {
    const delay = policy.delaysMs[Math.min(attemptsUsed, policy.delaysMs.length) - 1] ?? 0
    return [delay, delay]
  }
  const delay = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attemptsUsed - 1, largestExponent))
  return [delay, delay * (1 + policy.jitter)]
}
