import { createHash } from 'node:crypto'
import type { SqlValue } from '../kernel/index.ts'
import type { Equal, Loose, Slice } from './conditions.ts'
import { encodingOf, type TableProfile } from './profile.ts'
import { encodeTime } from './time-encoding.ts'

/** A piece of a statement, and what is bound in it at a moment (ms since the epoch). */
export interface Part {
  readonly sql: string
  readonly values: (nowMs: number) => SqlValue[]
}

/** Names are plain (see `identifier`): a backtick cannot be in one. */
export const quoted = (name: string): string => `\`${name}\``
export const quotedTable = (table: string): string => table.split('.').map(quoted).join('.')

export const nothing: Part = { sql: '', values: () => [] }
export const part = (sql: string, ...values: SqlValue[]): Part => ({ sql, values: () => values })

/** All of them, in order, between `separator`. */
export const joined = (parts: readonly Part[], separator: string): Part => ({
  sql: parts
    .map(({ sql }) => sql)
    .filter((sql) => sql !== '')
    .join(separator),
  values: (nowMs) => parts.flatMap(({ values }) => values(nowMs))
})

/** What a row of the slice fulfils. */
export const conditionOf = (profile: TableProfile, { equal, loose }: Slice): Part =>
  joined([...equal.map(equalPart), ...loose.map((one) => loosePart(profile, one))], ' AND ')

const equalPart = ({ column, value }: Equal): Part => exactly(column, value)

/** `<=>` would do for both, but not for the order of an index in all servers. */
export const exactly = (column: string, value: SqlValue): Part =>
  value === null ? part(`${quoted(column)} IS NULL`) : part(`${quoted(column)} = ?`, value)

function loosePart(profile: TableProfile, one: Loose): Part {
  const column = quoted(one.column)
  if ('is' in one) return part(`${column} IS NOT NULL`)
  if ('notIn' in one) return part(`${column} NOT IN (${one.notIn.map(() => '?').join(', ')})`, ...one.notIn)
  const [sign, seconds] = 'olderThanSeconds' in one ? ['<=', one.olderThanSeconds] : ['>', one.youngerThanSeconds]
  const encoding = encodingOf(profile, one.column)
  return { sql: `${column} ${sign} ?`, values: (nowMs) => [encodeTime(encoding, nowMs - seconds * 1_000)] }
}

/** The index on these columns, each once, as SQL. */
export function indexOn(table: string, columns: readonly (string | undefined)[]): string {
  const distinct = [...new Set(columns.filter((column) => column !== undefined))]
  const whole = `taskdeck_${distinct.join('_')}`
  // Two that begin alike must not have one name.
  const name =
    whole.length <= 64 ? whole : `${whole.slice(0, 55)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
  return `CREATE INDEX ${quoted(name)} ON ${quotedTable(table)} (${distinct.map(quoted).join(', ')})`
}
