import Database from 'better-sqlite3'

/**
 * Of the content: `damaged`; `foreign`, another program's; `newer`, of a later version; `irregular`, no regular file or larger than ours can
 * be. Of the way to it: `locked`, `full`, `unwritable`.
 */
export type FileFault = 'damaged' | 'foreign' | 'newer' | 'irregular' | 'locked' | 'full' | 'unwritable'

/** A file that is there and cannot be used by this version. */
export class UnusableFile extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.fault = fault
  }
}

/** What is wrong with the file behind an error; undefined when it is not about the file. */
export function fileFaultOf(error: unknown): FileFault | undefined {
  if (error instanceof UnusableFile) return error.fault
  if (!(error instanceof Database.SqliteError)) return undefined
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(error.code)) return 'damaged'
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code)) return 'locked'
  if (/^SQLITE_FULL/.test(error.code)) return 'full'
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM|AUTH|NOLFS)/.test(error.code)) return 'unwritable'
  return undefined
}
