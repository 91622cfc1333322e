import type { SqlRow } from '../kernel/index.ts'

/** A table of so few rows may be read whole, in any order. */
export const smallTable = 20_000
/** Rows that may be sorted, or put aside, for one probe. */
export const mostSorted = 50_000

/**
 * Whether a plan (the rows of EXPLAIN, of either flavour) costs no more than a bounded look into indexes: no table is read from its
 * beginning to its end, and nothing that is not bounded is sorted. A derived table is bounded by the LIMIT inside of it. `tableRows` is the size
 * of the largest table: who walks along an index until enough rows fit the condition may walk to its end, whatever the server expects.
 */
export const isCheapPlan = (plan: readonly SqlRow[], tableRows: number): boolean =>
  tablesOf(plan).every((step) => isCheap(step, tableRows))

/** Rows that the server expects to read, table by table in the plan's order. */
export const expectedRowsOf = (plan: readonly SqlRow[]): number[] => tablesOf(plan).map(rowsOf)

function isCheap(step: SqlRow, tableRows: number): boolean {
  const rows = rowsOf(step)
  const [reads, extra] = [String(step['type']), String(step['Extra'])]
  const walked = /using where/i.test(extra) ? Math.max(rows, tableRows) : rows
  if ((reads === 'ALL' || reads === 'index') && walked > smallTable) return false
  return !(/filesort|temporary/i.test(extra) && rows > mostSorted)
}

/** The steps that read a table of the database. */
const tablesOf = (plan: readonly SqlRow[]): SqlRow[] =>
  plan.filter(({ table }) => typeof table === 'string' && !table.startsWith('<'))

/** Text or number, by flavour and version; NULL for a step that reads nothing. */
const rowsOf = (step: SqlRow): number => Number(step['rows'] ?? 0)
