import { alertRuleDraft, AppError, shareSignals, type AlertRule, type AlertRuleDraft } from '../kernel/index.ts'

/** The rule as it may be kept. `known`: as it is kept; a threshold that nothing exceeds is refused only when it is new. Throws INVALID_INPUT. */
export function requireRule(draft: AlertRuleDraft, known?: AlertRule): AlertRuleDraft {
  const parsed = alertRuleDraft.safeParse(draft)
  if (parsed.success && (draft.above === known?.above || !isNeverExceeded(parsed.data))) return parsed.data
  const reason = parsed.error?.issues[0]?.message ?? 'A threshold of 100 % or more is never exceeded.'
  throw new AppError('INVALID_INPUT', 'user', `This rule cannot be used: ${reason}`, { details: { reason } })
}

const isNeverExceeded = ({ signal, above }: AlertRuleDraft): boolean => shareSignals.includes(signal) && above >= 1

/** Throws INVALID_INPUT for a default that is to watch something else: set back, it would be another rule. */
export function requireSameSignal(known: AlertRule, draft: AlertRuleDraft): void {
  if (known.signal === draft.signal && known.type === draft.type) return
  const text = 'A default rule keeps what it watches: make a new rule and switch this one off.'
  throw new AppError('INVALID_INPUT', 'user', text)
}
