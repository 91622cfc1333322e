import type { SqlRow } from '../kernel/index.ts'

/** A table of so few rows may be read whole, in any order. */
export const smallTable = 20_000
/** Rows that may be sorted, or put aside, for one probe. */
export const mostSorted = 50_000
/** Rows that may be looked through for those that fit, by an estimate that is often half of them. */
export const mostWalked = 20_000

export interface Planned {
  /** Of the largest table. */
  readonly tableRows: number
  /** See `Probe`. */
  readonly readsIndexOnly?: boolean | undefined
  readonly readsPastLimit?: boolean | undefined
}

/**
 * Whether a plan (the rows of EXPLAIN, of either flavour) costs no more than a bounded look into indexes: no table is read from its
 * beginning to its end, and nothing that is not bounded is sorted. A derived table is bounded by the LIMIT inside of it. Who walks along an index
 * until enough rows fit the condition may walk to its end, whatever the server expects.
 */
export function isCheapPlan(plan: readonly SqlRow[], planned: Planned): boolean {
  const { tableRows, readsIndexOnly = false, readsPastLimit = false } = planned
  const steps = tablesOf(plan)
  if (readsPastLimit && expectedRowsOf(plan).some((rows) => rows > mostWalked)) return false
  const sorted = steps.reduce((sum, step) => (sorts(step) ? sum + rowsOf(step) : sum), 0)
  if (sorted > mostSorted || steps.some((step) => walkedRows(step, tableRows) > smallTable)) return false
  return !readsIndexOnly || tableRows <= smallTable || steps.every(isCovered)
}

/** Rows that the server expects to read, table by table in the plan's order. */
export const expectedRowsOf = (plan: readonly SqlRow[]): number[] => tablesOf(plan).map(rowsOf)

/** Read from a table's or an index's beginning to its end. */
function walkedRows(step: SqlRow, tableRows: number): number {
  const reads = String(step['type'])
  if (reads !== 'ALL' && reads !== 'index') return 0
  return /using where/i.test(extraOf(step)) ? Math.max(rowsOf(step), tableRows) : rowsOf(step)
}

const sorts = (step: SqlRow): boolean => /filesort|temporary/i.test(extraOf(step))
const isCovered = (step: SqlRow): boolean => /using index(?! condition)/i.test(extraOf(step))
const extraOf = (step: SqlRow): string => String(step['Extra'])

/** The steps that read a table of the database. */
const tablesOf = (plan: readonly SqlRow[]): SqlRow[] =>
  plan.filter(({ table }) => typeof table === 'string' && !table.startsWith('<'))

/** Text or number, by flavour and version; NULL for a step that reads nothing. */
const rowsOf = (step: SqlRow): number => Number(step['rows'] ?? 0)
