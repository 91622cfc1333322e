import type { Clock } from '../../kernel/index.ts'
import type { RowSink } from '../row-sink.ts'
import { QueueFile } from './queue-file.ts'

const insertRow = `
INSERT INTO taskdeck_import_row (import_key, row_number, data, imported_at)
VALUES (:importKey, :rowNumber, :data, :at)
ON CONFLICT (import_key, row_number) DO NOTHING`

const countRows = 'SELECT COUNT(*) AS count FROM taskdeck_import_row WHERE import_key = :importKey'

/** A connection of its own to a queue's file whose tables exist. For the worker: its handler threads have none. */
export async function openSqliteRowSink(options: { readonly file: string; readonly clock: Clock }): Promise<RowSink> {
  const file = await QueueFile.open(options)
  return {
    insert: (importKey, rows) =>
      file.write((session) => {
        const { at } = session
        return rows.reduce((added, { rowNumber, data }) => {
          return added + session.run(insertRow, { at, importKey, rowNumber, data }).changes
        }, 0)
      }),
    count: (importKey) => file.read((session) => session.get<{ count: number }>(countRows, { importKey })?.count ?? 0),
    close: () => file.close()
  }
}
