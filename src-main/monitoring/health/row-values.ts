import type { SqlRow } from '../../kernel/index.ts'

/*
 * Columns of the server's own tables: their types and the case of their names differ between versions, so every statement names its
 * columns, and what is no number is unknown.
 */

export function textOf(row: SqlRow, column: string): string | null {
  const value = row[column]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : null
}

export function numberOf(row: SqlRow, column: string): number | null {
  const text = textOf(row, column)
  if (text === null || text.trim() === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}
