import type { Probe, SqlRow, SqlValue } from '../kernel/index.ts'
import type { Condition } from './conditions.ts'
import { invalid, tablePlace, typeColumn, type TableProfile } from './profile.ts'
import type { TimeEncoding } from './time-encoding.ts'

/** What the server tells an account of the columns that it may read, as `name` and `kind`. */
export const columnsProbe: Probe = {
  name: 'depth',
  sql: `
SELECT column_name AS name, data_type AS kind FROM information_schema.columns
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?`,
  tables: [],
  index: null
}

export function columnsProbeValues(profile: TableProfile): SqlValue[] {
  const { schema, name } = tablePlace(profile)
  return [schema, name]
}

const kinds = {
  moments: ['datetime', 'timestamp'],
  numbers: ['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double', 'bit', 'year'],
  texts: ['char', 'varchar', 'enum', 'set', 'tinytext', 'text', 'mediumtext', 'longtext'],
  numbered: ['enum', 'set', 'bit'],
  noIndex: ['tinytext', 'text', 'mediumtext', 'longtext', 'tinyblob', 'blob', 'mediumblob', 'longblob', 'json']
} as const
type Kinds = keyof typeof kinds

/** Throws INVALID_INPUT that says what in the profile does not fit the table; `rows` are those of `columnsProbe`. */
export function requireColumns(profile: TableProfile, rows: readonly SqlRow[]): void {
  if (rows.length === 0)
    throw invalid(
      `There is no table ${profile.table} that this account may read: check "table" in the profile, the database in the address, and GRANT SELECT.`
    )
  const known = new Map(rows.map((row) => [String(row['name']).toLowerCase(), String(row['kind']).toLowerCase()]))
  const problems = new Set(
    usesOf(profile).flatMap(({ column, problem }) => {
      const kind = known.get(column.toLowerCase())
      const told = kind === undefined ? 'is not in the table, or the account may not read it' : problem(kind)
      return told === undefined ? [] : [`"${column}" ${told}`]
    })
  )
  if (problems.size > 0)
    throw invalid(`The profile does not fit the table ${profile.table}:\n  ${[...problems].join('\n  ')}`)
}

interface Use {
  readonly column: string
  /** What is wrong with a column of this kind; undefined when nothing is. */
  readonly problem: (kind: string) => string | undefined
}

function usesOf(profile: TableProfile): Use[] {
  const type = typeColumn(profile)
  return [
    { column: profile.id, problem: () => undefined },
    ...(type === undefined ? [] : [{ column: type, problem: typeProblem }]),
    ...Object.entries(profile.times).map(([column, encoding]) => ({
      column,
      problem: (kind: string) => timeProblem(kind, encoding)
    })),
    ...profile.states
      .flatMap(({ when }) => when)
      .map((one) => ({
        column: one.column,
        problem: (kind: string) => valueProblem(kind, one)
      }))
  ]
}

const isOf = (group: Kinds, kind: string): boolean => (kinds[group] as readonly string[]).includes(kind)

function typeProblem(kind: string): string | undefined {
  if (isOf('noIndex', kind)) return `is ${kind}: choose a column that an index can hold as "type"`
  // Their index is in the order of their numbers, and they are compared as texts: types between two others would be passed over.
  return isOf('numbered', kind)
    ? `is ${kind}: choose a column of texts or numbers as "type", or {"constant": NAME}`
    : undefined
}

function timeProblem(kind: string, encoding: TimeEncoding): string | undefined {
  if (encoding.kind !== 'datetime')
    return isOf('numbers', kind) ? undefined : `is ${kind}: ${encoding.kind} in "times" is for numbers`
  if (!isOf('moments', kind)) return `is ${kind}: say unixSeconds or epochMs in "times" if it is a number of these`
  if (kind === 'timestamp' && encoding.zone !== 'UTC')
    return 'is TIMESTAMP: its zone in "times" is "UTC", whatever the server\'s'
  return undefined
}

/** A text compared with a number, or the other way round, fits more than is meant and uses no index. */
function valueProblem(kind: string, one: Condition): string | undefined {
  const values = 'in' in one ? one.in : 'notIn' in one ? one.notIn : []
  if (isOf('numbers', kind) && values.some((value) => typeof value === 'string'))
    return `is ${kind}: write its values without quotes`
  if (isOf('texts', kind) && values.some((value) => typeof value === 'number'))
    return `is ${kind}: write its values in quotes`
  return undefined
}
