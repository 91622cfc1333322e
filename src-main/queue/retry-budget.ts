/** Tokens of a type's retries. `at` in milliseconds since the epoch by the database's clock; null before the first use. */
export interface RetryBudget {
  readonly amount: number
  readonly at: number | null
}

/** No budget puts a retry off by more than this (a day, ms); a longer line is spread over all of it. */
export const longestBudgetDelayMs = 86_400_000

/** Seconds of the budget that may come back at once. More of them would be a wave again: see docs/decisions. */
const burstSeconds = 1

/**
 * Takes a token for each of `count` retries. Without one a retry waits until the budget has made it, and up to one token's time longer
 * by chance: those that failed together come back one after the other, at the budget's pace.
 */
export function bookRetries(
  budget: RetryBudget,
  booking: { readonly perMinute: number; readonly count: number; readonly now: number; readonly random: () => number }
): { readonly amount: number; readonly extraMs: readonly number[] } {
  const { perMinute, count, now, random } = booking
  const tokenMs = 60_000 / perMinute
  const most = Math.max(1, (perMinute / 60) * burstSeconds)
  const made = budget.at === null ? most : Math.max(0, now - budget.at) / tokenMs
  let tokens = Math.min(most, budget.amount + made)
  const extraMs: number[] = []
  for (let n = 0; n < count; n++) {
    // With a token at hand nothing is left to chance.
    const line = tokens >= 1 ? 0 : (random() - tokens) * tokenMs
    extraMs.push(
      line > longestBudgetDelayMs ? Math.round(random() * longestBudgetDelayMs) : Math.max(0, Math.round(line))
    )
    tokens = Math.max(tokens - 1, -longestBudgetDelayMs / tokenMs)
  }
  return { amount: tokens, extraMs }
}
