import { signalsOfTypes, type AlertRule, type AlertRuleDraft, type AlertSignal } from '@contract'
import { signalUnit, type SignalUnit } from '@/shared/format/signal.ts'

const minute = 60_000

/** What a new rule starts with, by unit; the preview shows at once what it would have meant. */
const startLimits: Record<SignalUnit, readonly [above: number, clearAt: number]> = {
  duration: [300_000, 240_000],
  share: [0.1, 0.08],
  count: [0, 0],
  perMinute: [200, 50]
}

export function newRule(signal: AlertSignal, type: string): AlertRuleDraft {
  const [above, clearAt] = startLimits[signalUnit[signal]]
  return {
    signal,
    type: signalsOfTypes.includes(signal) ? type : '',
    above,
    clearAt,
    forMs: 2 * minute,
    clearForMs: 2 * minute,
    repeatMs: 60 * minute,
    enabled: true
  }
}

/** The part of a rule that is edited. */
export function draftOf(rule: AlertRule): AlertRuleDraft {
  const { signal, type, above, clearAt, forMs, clearForMs, repeatMs, enabled } = rule
  return { signal, type, above, clearAt, forMs, clearForMs, repeatMs, enabled }
}

export const isSameRule = (a: AlertRuleDraft, b: AlertRuleDraft): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A lower threshold takes the end of the trouble down with it: it is never above the threshold. */
export function withLimit(
  rule: AlertRuleDraft,
  change: Partial<Pick<AlertRuleDraft, 'above' | 'forMs'>>
): AlertRuleDraft {
  const next = { ...rule, ...change }
  return { ...next, clearAt: Math.min(next.clearAt, next.above) }
}
