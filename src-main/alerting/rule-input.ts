import { alertRuleDraft, AppError, type AlertRule, type AlertRuleDraft } from '../kernel/index.ts'

/** The rule as it may be kept. Throws INVALID_INPUT. */
export function requireRule(draft: AlertRuleDraft): AlertRuleDraft {
  const parsed = alertRuleDraft.safeParse(draft)
  if (parsed.success) return parsed.data
  const reason = parsed.error.issues[0]?.message ?? ''
  throw new AppError('INVALID_INPUT', 'user', `This rule cannot be used: ${reason}`, { details: { reason } })
}

/** Throws INVALID_INPUT for a default that is to watch something else: set back, it would be another rule. */
export function requireSameSignal(known: AlertRule, draft: AlertRuleDraft): void {
  if (known.signal === draft.signal && known.type === draft.type) return
  const text = 'A default rule keeps what it watches: make a new rule and switch this one off.'
  throw new AppError('INVALID_INPUT', 'user', text)
}
