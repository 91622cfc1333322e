import { describe, expect, it } from 'vitest'
import { defaultRetryPolicy, type RetryPolicy } from '../kernel/index.ts'
import { bookRetries, longestBudgetDelayMs } from './retry-budget.ts'
import { retryDelayMs } from './retry.ts'

/** mulberry32: the same numbers each time. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const failures = 5_000

/** Start times of the retries of 5,000 tasks that fail within a second, settled in batches of 50. */
function wave(policy: RetryPolicy, attemptsUsed: number, perMinute: number | null): number[] {
  const random = randomFrom(1)
  let budget = { amount: 0, at: null as number | null }
  return Array.from({ length: failures / 50 }, (_, batch) => {
    const now = batch * (1_000 / (failures / 50))
    const booked = perMinute === null ? undefined : bookRetries(budget, { perMinute, count: 50, now, random })
    if (booked) budget = { amount: booked.amount, at: now }
    return Array.from(
      { length: 50 },
      (_, n) => now + retryDelayMs(policy, attemptsUsed, random) + (booked?.extraMs[n] ?? 0)
    )
  }).flat()
}

/** Starts in the fullest second and in the mean one, from the first to the last. */
function perSecond(starts: readonly number[]): { peak: number; mean: number } {
  const first = Math.min(...starts)
  const spanSeconds = (Math.max(...starts) - first) / 1_000
  const counts = new Map<number, number>()
  for (const start of starts) {
    const second = Math.floor((start - first) / 1_000)
    counts.set(second, (counts.get(second) ?? 0) + 1)
  }
  return { peak: Math.max(...counts.values()), mean: starts.length / Math.max(1, spanSeconds) }
}

describe('a wave of 5,000 failures (FAULTS 53)', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('is spread by the default policy over the jitter of attempt %i', (attemptsUsed) => {
    const { peak, mean } = perSecond(wave(defaultRetryPolicy, attemptsUsed, null))
    expect(peak).toBeLessThanOrEqual(3 * mean)
    // A fifth of 5 s, doubled with each attempt, is how long it takes.
    expect(mean).toBeLessThan(failures / (1 * 2 ** Math.min(6, attemptsUsed - 1) * 0.9))
  })

  it.each([60, 600, 6_000])('comes back at the pace of a budget of %i a minute', (perMinute) => {
    for (const policy of [defaultRetryPolicy, { kind: 'list', delaysMs: [5_000] } as const]) {
      const { peak, mean } = perSecond(wave({ ...policy } as RetryPolicy, 1, perMinute))
      expect(peak).toBeLessThanOrEqual(3 * mean)
      expect(mean).toBeLessThanOrEqual((perMinute / 60) * 1.1)
    }
  })
})

describe('bookRetries', () => {
  const random = (): number => 0.5

  it('delays nothing while there are tokens', () => {
    expect(bookRetries({ amount: 0, at: null }, { perMinute: 600, count: 10, now: 0, random })).toEqual({
      amount: 0,
      extraMs: Array.from({ length: 10 }, () => 0)
    })
    expect(bookRetries({ amount: 0, at: 0 }, { perMinute: 60, count: 1, now: 1_000, random }).extraMs).toEqual([0])
  })

  it('lines up what comes beyond them, and makes no more tokens than a second brings', () => {
    const { amount, extraMs } = bookRetries({ amount: 1, at: 0 }, { perMinute: 60, count: 4, now: 3_600_000, random })
    expect(extraMs).toEqual([0, 500, 1_500, 2_500])
    expect(amount).toBe(-3)
    expect(bookRetries({ amount, at: 0 }, { perMinute: 60, count: 1, now: 1_000, random }).extraMs).toEqual([2_500])
  })

  it('puts off by a day at most', () => {
    const long = bookRetries({ amount: 0, at: 0 }, { perMinute: 1, count: 5_000, now: 0, random: randomFrom(2) })
    expect(Math.max(...long.extraMs)).toBeLessThanOrEqual(longestBudgetDelayMs)
    expect(long.amount).toBe(-1_440)
  })

  it('is not confused by a clock that was set back', () => {
    expect(bookRetries({ amount: 1, at: 9_000 }, { perMinute: 60, count: 1, now: 0, random }).extraMs).toEqual([0])
  })
})
