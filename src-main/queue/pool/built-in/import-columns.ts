import { z } from 'zod'
import { FinalError } from '../handler.ts'

/** What a column of an import may hold. */
export const columnRule = z.enum(['text', 'optional', 'email', 'number', 'date'])
export type ColumnRule = z.infer<typeof columnRule>

/** The columns of the sample file (`resources/demo/make-import.mjs`). */
export const sampleColumns: Readonly<Record<string, ColumnRule>> = {
  order_no: 'text',
  customer: 'text',
  email: 'email',
  amount: 'number',
  ordered_on: 'date',
  note: 'optional'
}

/** Throws COLUMN_TWICE (final): of two columns with one name only one could be kept. Columns without a name are nobody's. */
export function requireDistinctNames(names: readonly string[]): void {
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new FinalError('COLUMN_TWICE', `Two columns are called "${twice}": give each a name of its own.`)
}

const checks: Readonly<Record<ColumnRule, (value: string) => string | undefined>> = {
  optional: () => undefined,
  text: (value) => (value === '' ? 'is empty' : undefined),
  email: (value) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) ? undefined : 'is not an e-mail address'),
  number: (value) => (/^-?\d+(\.\d+)?$/.test(value) ? undefined : 'is not a number'),
  date: (value) => (isDate(value) ? undefined : 'is not a date (YYYY-MM-DD)')
}

/** Why a row cannot be imported, undefined when it can. */
export function faultOf(
  row: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, ColumnRule>>
): string | undefined {
  const faults = Object.entries(columns).flatMap(([column, rule]) => {
    const fault = checks[rule]((row[column] ?? '').trim())
    return fault === undefined ? [] : [`${column} ${fault}`]
  })
  return faults.length === 0 ? undefined : faults.join('; ')
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const date = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value)
}
