import type { SqlDatabase } from '../../kernel/index.ts'
import { partsWithin } from '../new-task.ts'
import type { ImportedRow, RowSink } from '../row-sink.ts'
import { repeatable } from './repeatable.ts'
import { count } from './row-values.ts'
import { marks, perLength, powerChunks } from './statement-text.ts'
import { mostPayloadBytes } from './task-inserts.ts'

const largestInsert = 128

/** IGNORE: the row is there already, from an attempt whose reply or lease was lost. Only rows that are new are counted. */
const insertRows = perLength(
  (length) => `
INSERT IGNORE INTO taskdeck_import_row (import_key, \`row_number\`, data, imported_at)
VALUES ${marks(length, '(?, ?, ?, NOW(6))')}`
)
const countRows = 'SELECT COUNT(*) AS n FROM taskdeck_import_row WHERE import_key = ?'

/** The import handler's rows in the queue's own database. `close` leaves the database open: it belongs to the caller. */
export function openMysqlRowSink({ database }: { readonly database: SqlDatabase }): RowSink {
  return {
    insert: (importKey, rows) => insert(database, importKey, rows),
    count: async (importKey) => {
      const [row] = (await database.execute(countRows, [importKey])).rows
      return row ? count(row, 'n') : 0
    },
    close: () => Promise.resolve()
  }
}

/** No more bytes in one packet than servers take by default. */
const insertChunks = (rows: readonly ImportedRow[]): ImportedRow[][] =>
  partsWithin(rows, mostPayloadBytes, ({ data }) => Buffer.byteLength(data, 'utf8')).flatMap((part) =>
    powerChunks(part, largestInsert)
  )

async function insert(database: SqlDatabase, importKey: string, rows: readonly ImportedRow[]): Promise<number> {
  if (rows.length === 0) return 0
  const sorted = [...rows].sort((a, b) => a.rowNumber - b.rowNumber)
  return database.transaction(
    async (runner) => {
      let added = 0
      for (const chunk of insertChunks(sorted)) {
        const values = chunk.flatMap((row) => [importKey, row.rowNumber, row.data])
        added += (await runner.execute(insertRows(chunk.length), values)).affectedRows
      }
      return added
    },
    // Repeated after a lost reply it finds its rows and skips them; the count is then too low, the rows are right.
    repeatable
  )
}
