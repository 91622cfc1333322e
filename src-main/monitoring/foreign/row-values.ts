import type { SqlRow, SqlValue } from '../../kernel/index.ts'
import { typeColumn, type TableProfile } from '../../schema-profiles/index.ts'

/** Of rows without a type: '' is the whole queue. */
const noType = '(none)'

/** What a type is called. */
export function typeName({ type }: TableProfile, value: SqlValue | undefined): string {
  if (!('column' in type)) return type.constant
  const text = textOf(value)
  return text === '' ? noType : text
}

/** The only type, when the profile has just one. */
export const onlyType = (profile: TableProfile): readonly SqlValue[] | undefined =>
  typeColumn(profile) === undefined ? [null] : undefined

/** Ids and types as text; bytes in hexadecimal digits. */
export function textOf(value: SqlValue | undefined): string {
  if (value === null || value === undefined) return ''
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

/** Counts and places. */
export const numberOf = (row: SqlRow, column: string): number => Number(row[column])
