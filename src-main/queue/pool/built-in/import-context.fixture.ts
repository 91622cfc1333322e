import type { ImportedRow } from '../../row-sink.ts'
import type { HandlerContext, NewArtifactFile } from '../handler.ts'

/** What an import has left behind, over all of its attempts. */
export interface ImportTrace {
  readonly stored: ImportedRow[]
  readonly files: NewArtifactFile[]
  readonly log: string[]
  checkpoint: unknown
}

export const newTrace = (): ImportTrace => ({ stored: [], files: [], log: [], checkpoint: undefined })

/** An attempt that goes on where the trace ends; `beforeInsert` may end it. */
export const contextOf = (
  trace: ImportTrace,
  { beforeInsert = () => undefined }: { readonly beforeInsert?: (rows: readonly ImportedRow[]) => void } = {}
): HandlerContext => ({
  taskId: '1',
  attempt: 1,
  idempotencyKey: 'key',
  signal: new AbortController().signal,
  checkCancellation: () => undefined,
  progress: () => undefined,
  log: (...words: readonly string[]) => void trace.log.push(words.join(' ')),
  artifact: (file) => Promise.resolve(void trace.files.push(file)),
  checkpoint: trace.checkpoint,
  saveCheckpoint: (value) => Promise.resolve(void (trace.checkpoint = value)),
  rows: {
    insert: (_key, rows) => {
      beforeInsert(rows)
      return Promise.resolve(trace.stored.push(...rows))
    },
    count: () => Promise.resolve(trace.stored.length)
  }
})
