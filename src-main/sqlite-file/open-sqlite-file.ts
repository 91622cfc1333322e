import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Clock } from '../kernel/index.ts'
import { fileFaultOf, UnusableFile, type FileFault } from './file-fault.ts'
import { checkParts, keepPrivate, setAside } from './parts.ts'

/** A larger file is not opened: the check of its pages would hold up the start for many seconds. */
const maxFileBytes = 1024 * 1_048_576

/** What one kind of file is, and what becomes of one that cannot be used. */
export interface SqliteFileFormat {
  /** Tells our file from any other SQLite file. */
  readonly applicationId: number
  /** Folder of its numbered .sql files; their number is the file's version. */
  readonly migrationsDir: string
  /** How long to wait for another process. Blocks the event loop. */
  readonly busyTimeoutMs: number
  /** Nobody else may have the file open. */
  readonly exclusive: boolean
  /** Settings of the handle, for example `synchronous = FULL`. */
  readonly pragmas: readonly string[]
  /** With one of these the file is renamed aside and a new one begun; with any other it is left alone. */
  readonly replacedOn: readonly FileFault[]
  /** How many of those set aside are kept. */
  readonly asideKept: number
}

export type OpenedFile<T> =
  | { readonly status: 'opened'; readonly value: T }
  /** `cause` is what was wrong with the old file, now at `aside`. */
  | { readonly status: 'begun-anew'; readonly value: T; readonly aside: string; readonly cause: unknown }
  | { readonly status: 'unusable'; readonly fault: FileFault; readonly cause: unknown }

/**
 * Opens a file of the app, private to its user, after a check of its pages, and brings it to the newest version. `use` prepares what
 * is done with it: a statement that cannot be prepared means that a table is missing. Never throws.
 */
export function openSqliteFile<T>(
  file: string,
  format: SqliteFileFormat,
  { clock, use }: { clock: Clock; use: (db: Database.Database) => T }
): OpenedFile<T> {
  try {
    return { status: 'opened', value: openSqlite(file, format, use) }
  } catch (cause) {
    const fault = fileFaultOf(cause) ?? 'unwritable'
    if (!format.replacedOn.includes(fault)) return { status: 'unusable', fault, cause }
    try {
      const aside = setAside(file, clock, format.asideKept)
      return { status: 'begun-anew', value: openSqlite(file, format, use), aside, cause }
    } catch (second) {
      return { status: 'unusable', fault: 'unwritable', cause: second }
    }
  }
}

/** One attempt, also for `:memory:`. Throws UnusableFile or the driver's error; leaves no handle open then. */
export function openSqlite<T>(file: string, format: SqliteFileFormat, use: (db: Database.Database) => T): T {
  const isFile = file !== ':memory:'
  if (isFile) checkParts(file, maxFileBytes)
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const db = new Database(file, { timeout: format.busyTimeoutMs, ...(nativeBinding ? { nativeBinding } : {}) })
  try {
    if (format.exclusive) db.pragma('locking_mode = EXCLUSIVE')
    const migrations = readMigrations(format.migrationsDir)
    checkIdentity(db, format.applicationId, migrations.length)
    const check = db.pragma('quick_check(1)', { simple: true })
    if (check !== 'ok') throw new UnusableFile('damaged', String(check))
    // Before the log beside it is made, which gets the file's rights.
    if (isFile) keepPrivate(file)
    db.pragma('journal_mode = WAL')
    for (const pragma of format.pragmas) db.pragma(pragma)
    migrate(db, format.applicationId, migrations)
    return prepared(db, use)
  } catch (error) {
    db.close()
    throw error
  }
}

function checkIdentity(db: Database.Database, applicationId: number, latest: number): void {
  const id = db.pragma('application_id', { simple: true })
  const version = Number(db.pragma('user_version', { simple: true }))
  const objects = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())
  if (id === 0 && version === 0 && objects === 0) return
  if (id !== applicationId) throw new UnusableFile('foreign', 'it belongs to another program')
  if (version > latest) throw new UnusableFile('newer', `its version ${version} is newer than ${latest}`)
}

function readMigrations(dir: string): string[] {
  const names = readdirSync(dir).filter((name) => /^\d{4}_.*\.sql$/.test(name))
  return names.sort().map((name) => readFileSync(join(dir, name), 'utf8'))
}

/** All in one transaction. Writes the version even when nothing is pending: that shows at once whether the file can be written. */
function migrate(db: Database.Database, applicationId: number, migrations: readonly string[]): void {
  const run = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }))
    for (const sql of migrations.slice(version)) db.exec(sql)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${migrations.length}`)
  })
  run.immediate()
}

function prepared<T>(db: Database.Database, use: (db: Database.Database) => T): T {
  try {
    return use(db)
  } catch (error) {
    // Its tables are not the ones its version promises.
    throw fileFaultOf(error) ? error : new UnusableFile('damaged', 'a table is missing', { cause: error })
  }
}
