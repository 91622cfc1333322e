import type { AlertRule, AlertSignal } from './alert.ts'

/** When a figure of the queue, or of one type, is a problem. */
export interface QueueLimits {
  /** Age of the longest due task, ms. */
  readonly oldestMs: number
  /** Share of attempts that failed for good, 0 to 1. */
  readonly failureRate: number
}

/** Of one type; '' is the whole queue. */
export type LimitsOf = (type: string) => QueueLimits

/** Those of the default rules: they hold where no rule says otherwise. */
export const usualLimits: QueueLimits = { oldestMs: 300_000, failureRate: 0.1 }

/** As a connection's own rules have them. A type without a rule has that of the queue; a rule that is switched off says nothing. */
export function limitsBy(rules: readonly { readonly rule: AlertRule }[] | undefined): LimitsOf {
  const above = (signal: AlertSignal, of: string): number | undefined =>
    rules?.find(({ rule }) => rule.signal === signal && rule.type === of && rule.enabled)?.rule.above
  return (type) => ({
    oldestMs: above('oldestMs', type) ?? above('oldestMs', '') ?? usualLimits.oldestMs,
    failureRate: above('failureRate', type) ?? above('failureRate', '') ?? usualLimits.failureRate
  })
}
