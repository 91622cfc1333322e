import type { Clock } from '../kernel/index.ts'

/** What may be spent in any one minute. */
export interface BudgetLimits {
  readonly ms: number
  readonly rows: number
}

export const minuteMs = 60_000

interface Expense {
  readonly at: number
  readonly ms: number
  readonly rows: number
}

/** What the probes of one connection have cost in the last minute, and what is left. */
export class MinuteBudget {
  private readonly clock: Clock
  private readonly limits: BudgetLimits
  private expenses: readonly Expense[] = []

  constructor(clock: Clock, limits: BudgetLimits) {
    this.clock = clock
    this.limits = limits
  }

  spend(ms: number, rows: number): void {
    const at = this.clock.monotonic()
    this.expenses = [...this.recent(), { at, ms, rows }]
  }

  /**
   * The names whose usual costs (ms) do not fit into what is left, the dearest first. All rows that were read are put down to milliseconds:
   * the server does not tell them apart by statement.
   */
  unaffordable(usualMs: ReadonlyMap<string, number>, usualRows: number): Set<string> {
    const dearestFirst = [...usualMs].sort(([, a], [, b]) => b - a)
    let costMs = dearestFirst.reduce((sum, [, ms]) => sum + ms, 0)
    const left = this.left()
    const affordableMs = Math.min(left.ms, usualRows > left.rows ? costMs * (left.rows / usualRows) : costMs)
    const held = new Set<string>()
    for (const [name, ms] of dearestFirst) {
      if (costMs <= affordableMs) break
      held.add(name)
      costMs -= ms
    }
    return held
  }

  private left(): BudgetLimits {
    const spent = this.recent()
    const sum = (of: (expense: Expense) => number): number => spent.reduce((total, expense) => total + of(expense), 0)
    return {
      ms: Math.max(0, this.limits.ms - sum(({ ms }) => ms)),
      rows: Math.max(0, this.limits.rows - sum(({ rows }) => rows))
    }
  }

  private recent(): Expense[] {
    const since = this.clock.monotonic() - minuteMs
    return this.expenses.filter(({ at }) => at > since)
  }
}
