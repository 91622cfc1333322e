import type { SqlRow } from '../kernel/index.ts'

/** A table of so few rows may be read whole, in any order. */
export const smallTable = 20_000
/** Rows that may be sorted, or put aside, for one probe. */
export const mostSorted = 50_000

/**
 * Whether a plan (the rows of EXPLAIN, of either flavour) costs no more than a bounded look into indexes: no table is read from its
 * beginning to its end, and nothing that is not bounded is sorted. A derived table is bounded by the LIMIT inside of it.
 */
export const isCheapPlan = (plan: readonly SqlRow[]): boolean => tablesOf(plan).every(isCheap)

/** Rows that the server expects to read, table by table in the plan's order. */
export const expectedRowsOf = (plan: readonly SqlRow[]): number[] => tablesOf(plan).map(rowsOf)

function isCheap(step: SqlRow): boolean {
  const rows = rowsOf(step)
  const reads = String(step['type'])
  if ((reads === 'ALL' || reads === 'index') && rows > smallTable) return false
  return !(/filesort|temporary/i.test(String(step['Extra'])) && rows > mostSorted)
}

/** The steps that read a table of the database. */
const tablesOf = (plan: readonly SqlRow[]): SqlRow[] =>
  plan.filter(({ table }) => typeof table === 'string' && !table.startsWith('<'))

/** Text or number, by flavour and version; NULL for a step that reads nothing. */
const rowsOf = (step: SqlRow): number => Number(step['rows'] ?? 0)
