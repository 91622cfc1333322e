import type { Clock, ProbeGuard, SqlDatabase } from '../kernel/index.ts'
import { GuardMemory } from './guard-memory.ts'
import { beginRound } from './guarded-round.ts'
import type { BudgetLimits } from './minute-budget.ts'

export const probeLimits = {
  /** Of one statement, on the server. */
  statementMs: 2_000,
  /** Of all in a minute: 2 % of the time. The sampler paces itself to half of that; this is for what it did not foresee. */
  ms: 1_200,
  rows: 6_000_000
} as const

export interface CostGuardOptions {
  /**
   * For monitoring alone: one session, so that one statement is in flight, and `probeLimits.statementMs` as the server's limit for a statement.
   * Stays the caller's.
   */
  readonly database: SqlDatabase
  readonly clock: Clock
  /** Default `probeLimits`. */
  readonly budget?: BudgetLimits
}

/**
 * Decides about the statements that watch one database. A probe's plan is read before its first run, and again when its table has grown
 * tenfold. When the minute's budget is spent, the dearest probes are left out first; when the cheap ones of a round show that the server is
 * slow, the dear ones wait.
 */
export function createCostGuard({ database, clock, budget = probeLimits }: CostGuardOptions): ProbeGuard {
  const memory = new GuardMemory(clock, budget)
  return { begin: (signal) => beginRound({ database, clock, memory, signal }) }
}
