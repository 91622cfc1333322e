import { existsSync, readFileSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../kernel/index.ts'
import type { Clock } from '../kernel/index.ts'
import type { Audit } from './audit-port.ts'
import { FileAudit, UnavailableAudit, auditFault } from './file-audit.ts'

/** "TDau" */
const applicationId = 0x54446175
/** Another instance of the app may be writing its own entry. */
const busyTimeoutMs = 1_000

export interface AuditOptions {
  readonly file: string
  readonly clock: Clock
  /** The folder `migrations/cache`. */
  readonly migrationsDir: string
}

/** Damaged beyond use; as opposed to a file that this version must leave alone. */
class Damaged extends Error {}

/**
 * Opens the log after a check of its pages. A damaged one is renamed aside, kept for good, and a new one begun (notice
 * AUDIT_DAMAGED). One that is newer, foreign or not writable is left alone, and every action is refused until it can be
 * used (notice AUDIT_UNAVAILABLE): an action without a record is worse than none.
 */
export function openAudit(options: AuditOptions): { audit: Audit; notice?: AppError } {
  try {
    return { audit: new FileAudit(openDatabase(options), options.clock) }
  } catch (error) {
    if (!isDamage(error)) return unavailable(error)
    try {
      const aside = setAside(options.file, options.clock)
      return { audit: new FileAudit(openDatabase(options), options.clock), notice: begunAnew(aside, error) }
    } catch (second) {
      return unavailable(second)
    }
  }
}

function isDamage(error: unknown): boolean {
  if (error instanceof Damaged) return true
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(error.code)
}

function unavailable(error: unknown): { audit: Audit; notice: AppError } {
  const notice = auditFault(error)
  return { audit: new UnavailableAudit(notice), notice }
}

function begunAnew(aside: string, cause: unknown): AppError {
  const text = `The audit log was damaged and a new one was begun. The old one is kept as ${aside}: put it where it can be examined.`
  return new AppError('AUDIT_DAMAGED', 'operational', text, { cause, details: { aside } })
}

function openDatabase({ file, migrationsDir }: AuditOptions): Database.Database {
  if (existsSync(file) && statSync(file).size === 0) throw new Damaged('it is empty')
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const db = new Database(file, { timeout: busyTimeoutMs, ...(nativeBinding ? { nativeBinding } : {}) })
  try {
    const migrations = readMigrations(join(migrationsDir, 'audit'))
    checkIdentity(db, migrations.length)
    const check = db.pragma('quick_check(1)', { simple: true })
    if (check !== 'ok') throw new Damaged(String(check))
    db.pragma('journal_mode = WAL')
    // An intent must outlive a power cut that follows the action.
    db.pragma('synchronous = FULL')
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
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all()
  if (id === 0 && version === 0 && tables.length === 0) return
  if (id !== applicationId) throw new AppError('AUDIT_UNAVAILABLE', 'operational', 'it belongs to another program')
  if (version > latest) throw new AppError('AUDIT_UNAVAILABLE', 'operational', 'a newer Taskdeck made it')
  if (!['intent', 'outcome'].every((name) => tables.includes(name))) throw new Damaged('a table is missing')
}

function readMigrations(dir: string): string[] {
  const names = readdirSync(dir).filter((name) => /^\d{4}_.*\.sql$/.test(name))
  return names.sort().map((name) => readFileSync(join(dir, name), 'utf8'))
}

/** In one transaction; writes the version in any case, which shows at once whether the file can be written. */
function migrate(db: Database.Database, migrations: readonly string[]): void {
  const run = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }))
    for (const sql of migrations.slice(version)) db.exec(sql)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${migrations.length}`)
  })
  run.immediate()
}

function setAside(file: string, clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, '')
  let target = `${file}.damaged-${stamp}`
  for (let n = 2; existsSync(target); n++) target = `${file}.damaged-${stamp}-${n}`
  renameSync(file, target)
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix)
  }
  return target
}
