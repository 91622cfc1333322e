import type { Probe, SqlRow } from '../kernel/index.ts'

/** An index that the server may read in the order of its columns. */
export interface TableIndex {
  readonly name: string
  readonly columns: readonly string[]
}

/** What an account is told of the indexes of a table that it may read; takes the values of `columnsProbe`. A part of a column gives no order. */
export const indexesProbe: Probe = {
  name: 'depth',
  sql: `
SELECT index_name AS name, column_name AS indexed, sub_part AS part FROM information_schema.statistics
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND index_type = 'BTREE' ORDER BY index_name, seq_in_index`,
  tables: [],
  index: null
}

/** Of the rows of `indexesProbe`: each index as far as it is made of whole columns. */
export function indexesOf(rows: readonly SqlRow[]): TableIndex[] {
  const indexes = new Map<string, { columns: string[]; isWhole: boolean }>()
  for (const row of rows) {
    const name = String(row['name'])
    const known = indexes.get(name) ?? { columns: [], isWhole: true }
    indexes.set(name, known)
    known.isWhole &&= row['part'] === null && typeof row['indexed'] === 'string'
    if (known.isWhole) known.columns.push(String(row['indexed']))
  }
  return [...indexes].map(([name, { columns }]) => ({ name, columns }))
}

/**
 * ` FORCE INDEX (…)` for the index that begins with `equal`, in whatever order, and goes on with `then`; '' without one. Left to itself, a server may
 * walk along an index of moments for the first row that fits, however far it is.
 */
export function forced(indexes: readonly TableIndex[], equal: readonly string[], then: readonly string[]): string {
  const wanted = new Set(equal.map(folded))
  const found = indexes.find(({ columns }) => {
    const own = columns.map(folded)
    const first = new Set(own.slice(0, wanted.size))
    return (
      [...wanted].every((column) => first.has(column)) &&
      then.every((column, place) => own[wanted.size + place] === folded(column))
    )
  })
  return found ? ` FORCE INDEX (\`${found.name.replaceAll('`', '``')}\`)` : ''
}

const folded = (name: string): string => name.toLowerCase()
