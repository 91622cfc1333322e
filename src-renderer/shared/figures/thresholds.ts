/** When a number becomes a problem (requirements, section 7). Rates are fractions. */
export const thresholds = {
  oldestMs: 300_000,
  failureRate: 0.1,
  /** Attempts that did not succeed, retried ones included: some retries are a handler's daily life. Nothing of the alert rules. */
  troubleRate: 0.25
} as const
