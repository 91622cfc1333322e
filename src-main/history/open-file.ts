import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { Clock } from '../kernel/index.ts'

/** "TDhi": tells our file from any other SQLite file. */
const applicationId = 0x54446869
const pageBytes = 4096
const asideKept = 3
/** Ticks are written once and read in long runs: a large cache would gain nothing. */
const cacheKib = 2_000
/** Another Taskdeck holds the file for as long as it runs; waiting does not help. */
const busyTimeoutMs = 250

export type FileFault = 'damaged' | 'locked' | 'full' | 'unwritable'

/** What is wrong with the file behind an error of the driver; undefined when it is not about the file. */
export function fileFaultOf(error: unknown): FileFault | undefined {
  if (!(error instanceof Database.SqliteError)) return undefined
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(error.code)) return 'damaged'
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code)) return 'locked'
  if (/^SQLITE_FULL/.test(error.code)) return 'full'
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM|AUTH|NOLFS)/.test(error.code)) return 'unwritable'
  return undefined
}

/** A file that is there and is not a history this version can use. */
export class UnusableFile extends Error {}

const connect = (file: string): Database.Database => {
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  return new Database(file, { timeout: busyTimeoutMs, ...(nativeBinding ? { nativeBinding } : {}) })
}

/** Throws UnusableFile or the driver's error; leaves no handle open then. */
export function openDatabase(file: string, migrationsDir: string, maxBytes: number): Database.Database {
  if (file !== ':memory:' && existsSync(file) && statSync(file).size === 0) throw new UnusableFile('it is empty')
  const db = connect(file)
  try {
    // One owner: a second instance must not write to the same file (FAULTS 80), nor set it aside as damaged.
    db.pragma('locking_mode = EXCLUSIVE')
    const migrations = readMigrations(migrationsDir)
    checkIdentity(db, migrations.length)
    const check = db.pragma('quick_check(1)', { simple: true })
    if (check !== 'ok') throw new UnusableFile(String(check))
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma(`cache_size = -${cacheKib}`)
    db.pragma(`max_page_count = ${Math.ceil(maxBytes / pageBytes)}`)
    migrate(db, migrations)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function checkIdentity(db: Database.Database, latest: number): void {
  const id = db.pragma('application_id', { simple: true })
  const version = Number(db.pragma('user_version', { simple: true }))
  const objects = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())
  if (id === 0 && version === 0 && objects === 0) return
  if (id !== applicationId) throw new UnusableFile('it belongs to another program')
  if (version > latest) throw new UnusableFile(`its version ${version} is newer than ${latest}`)
}

function readMigrations(dir: string): string[] {
  const names = readdirSync(dir)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
  return names.map((name) => readFileSync(join(dir, name), 'utf8'))
}

/** All in one transaction. Writes the version even when nothing is pending: that shows at once whether the file can be written. */
function migrate(db: Database.Database, migrations: readonly string[]): void {
  const run = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }))
    for (const sql of migrations.slice(version)) db.exec(sql)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${migrations.length}`)
  })
  run.immediate()
}

/** Renames the file and its journal to `NAME.damaged-TIME`, keeps the newest few of these, and returns the new path. */
export function setAside(file: string, clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, '')
  let target = `${file}.damaged-${stamp}`
  for (let n = 2; existsSync(target); n++) target = `${file}.damaged-${stamp}-${n}`
  renameSync(file, target)
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix)
  }
  dropOldest(file)
  return target
}

function dropOldest(file: string): void {
  const dir = dirname(file)
  const aside = readdirSync(dir)
    .filter((name) => name.startsWith(`${basename(file)}.damaged-`) && !/-(wal|shm|journal)$/.test(name))
    .sort()
  for (const name of aside.slice(0, -asideKept)) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(join(dir, name + suffix), { force: true })
  }
}
