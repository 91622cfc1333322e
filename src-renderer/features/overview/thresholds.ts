/** When a number becomes a problem (requirements, section 7). Rates are fractions. */
export const thresholds = { oldestMs: 300_000, failureRate: 0.1 } as const

/** Fewer attempts than this in 5 minutes say nothing about a rate. */
export const enoughAttempts = 10
