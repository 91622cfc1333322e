import type { Clock } from '../../kernel/index.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import { bookRetries } from '../retry-budget.ts'
import type { Session } from './queue-file.ts'

export interface RetryTerms {
  readonly policies: EffectivePolicies
  readonly clock: Clock
}

const findBudget = "SELECT amount, at FROM taskdeck_gate WHERE kind = 'RETRY' AND scope = 'TYPE' AND name = :type"
const writeBudget = `
INSERT OR REPLACE INTO taskdeck_gate (kind, scope, name, amount, at) VALUES ('RETRY', 'TYPE', :type, :amount, :at)`

/** Takes a token of the type's budget for one retry; returns how much longer it waits (ms). Inside `write` only. */
export function retryDelay(session: Session, type: string, { policies, clock }: RetryTerms): number {
  const perMinute = policies.ofType(type).retriesPerMinute
  if (perMinute === null) return 0
  const { at } = session
  const gate = session.get<{ amount: number; at: number | null }>(findBudget, { type })
  const budget = { amount: gate?.amount ?? 0, at: gate?.at === undefined || gate.at === null ? null : gate.at / 1000 }
  const { amount, extraMs } = bookRetries(budget, { perMinute, count: 1, now: at / 1000, random: () => clock.random() })
  session.run(writeBudget, { type, amount, at })
  return extraMs[0] ?? 0
}
