import type { Clock, SqlRunner } from '../../kernel/index.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import { bookRetries } from '../retry-budget.ts'
import { lockBudgets } from './gates.ts'

const writeBudget = `
UPDATE taskdeck_gate SET amount = ?, at = NOW(6) WHERE kind = 'RETRY' AND scope = 'TYPE' AND name = ?`

export interface RetryTerms {
  readonly policies: EffectivePolicies
  readonly clock: Clock
  /** By the task's id, of every task that the transaction has locked. */
  readonly typeOf: ReadonlyMap<string, string>
}

/** An end in RETRY_WAIT. */
interface Retry {
  readonly taskId: string
  readonly delayMs: number
}

/**
 * Each retry takes a token of its type's budget, in the transaction that ends the attempt; those beyond it wait longer. These gates are
 * the last that a transaction locks: see decision 0011.
 */
export async function withinRetryBudgets<End extends Retry>(
  runner: SqlRunner,
  ends: readonly End[],
  { policies, clock, typeOf }: RetryTerms
): Promise<End[]> {
  const types = new Set(ends.map(({ taskId }) => typeOf.get(taskId) ?? ''))
  const budgeted = [...types].filter((type) => policies.ofType(type).retriesPerMinute !== null)
  if (budgeted.length === 0) return [...ends]
  const extra = new Map<End, number>()
  for (const [type, gate] of await lockBudgets(runner, budgeted)) {
    const retries = ends.filter(({ taskId }) => typeOf.get(taskId) === type)
    const { amount, extraMs } = bookRetries(
      { amount: gate.amount, at: gate.at === null ? null : gate.at / 1000 },
      {
        perMinute: policies.ofType(type).retriesPerMinute ?? Infinity,
        count: retries.length,
        now: gate.now / 1000,
        random: () => clock.random()
      }
    )
    for (const [index, end] of retries.entries()) extra.set(end, extraMs[index] ?? 0)
    await runner.execute(writeBudget, [amount, type])
  }
  return ends.map((end) => ({ ...end, delayMs: end.delayMs + (extra.get(end) ?? 0) }))
}
