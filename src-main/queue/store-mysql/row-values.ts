import { AppError, type SqlRow, type SqlValue } from '../../kernel/index.ts'

/*
 * Columns as the driver delivers them: INT as number, BIGINT and DATETIME(6) as text. Times leave here as milliseconds since
 * the epoch; the session's zone is +00:00, so their text is UTC.
 */

export function text(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  throw unexpected(column, value)
}

export function textOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function count(row: SqlRow, column: string): number {
  const value = Number(row[column])
  if (row[column] === null || Number.isNaN(value)) throw unexpected(column, row[column])
  return value
}

export function countOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : count(row, column)
}

export function time(row: SqlRow, column: string): number {
  const at = epochMs(text(row, column))
  if (Number.isNaN(at)) throw unexpected(column, row[column])
  return at
}

export function timeOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : time(row, column)
}

export function bytesOrNull(row: SqlRow, column: string): Uint8Array | null {
  const value = row[column]
  if (value === null || value instanceof Uint8Array) return value
  throw unexpected(column, value)
}

/**
 * `2026-01-31 12:00:00.123456` as milliseconds; the microseconds are cut off. A month or day of zero, which a lax sql_mode lets
 * anyone write, counts as the first: `0000-00-00` is the beginning of the year 0. NaN for what is no date.
 */
export const epochMs = (utc: string): number => Date.parse(`${utc.replace(' ', 'T').replaceAll('-00', '-01')}Z`)

/** What a DATETIME can hold, of the years that JavaScript writes with four digits. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Milliseconds since the epoch as the text of a DATETIME(6) in UTC; the nearest that it can hold from 1970 to 9999. */
export function utcText(ms: number): string {
  const held = Math.min(latestMs, Math.max(0, Math.round(ms)))
  return new Date(held).toISOString().slice(0, 23).replace('T', ' ')
}

/** Whole microseconds, for INTERVAL ? MICROSECOND. */
export const microseconds = (ms: number): number => Math.round(ms * 1000)

const largestId = 2n ** 64n - 1n

/** Of an INT UNSIGNED column. */
export const largestCount = 4_294_967_295

/** The id as a bound integer; undefined for what no row can have. */
export function rowId(id: string): bigint | undefined {
  if (!/^\d{1,20}$/.test(id)) return undefined
  const value = BigInt(id)
  return value <= largestId ? value : undefined
}

/** Ids of rows, for sorting: longer is larger. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)

const unexpected = (column: string, value: SqlValue | undefined): AppError =>
  new AppError('BUG', 'bug', `Column ${column} holds an unexpected ${value === null ? 'NULL' : typeof value}`)
