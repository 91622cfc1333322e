import { join } from 'node:path'
import { AppError } from '../kernel/index.ts'
import type { Clock } from '../kernel/index.ts'
import { openSqliteFile, type SqliteFileFormat } from '../sqlite-file/index.ts'
import type { Audit } from './audit-port.ts'
import { FileAudit, UnavailableAudit, auditFault } from './file-audit.ts'

export interface AuditOptions {
  readonly file: string
  readonly clock: Clock
  /** The folder `migrations/cache`. */
  readonly migrationsDir: string
}

/**
 * Opens the log after a check of its pages. A damaged one is renamed aside, kept for good, and a new one begun (notice
 * AUDIT_DAMAGED). One that is newer, foreign, no regular file or not writable is left alone, and every action is refused until it
 * can be used (notice AUDIT_UNAVAILABLE): an action without a record is worse than none.
 */
export function openAudit({ file, clock, migrationsDir }: AuditOptions): { audit: Audit; notice?: AppError } {
  const opened = openSqliteFile(file, formatOf(migrationsDir), { clock, use: (db) => new FileAudit(db, clock) })
  if (opened.status === 'opened') return { audit: opened.value }
  if (opened.status === 'begun-anew') return { audit: opened.value, notice: begunAnew(opened.aside, opened.cause) }
  const notice = auditFault(opened.cause)
  return { audit: new UnavailableAudit(notice), notice }
}

const formatOf = (migrationsDir: string): SqliteFileFormat => ({
  applicationId: 0x54446175, // "TDau"
  migrationsDir: join(migrationsDir, 'audit'),
  // Another instance of the app may be writing its own entry.
  busyTimeoutMs: 1_000,
  exclusive: false,
  // An intent must outlive a power cut that follows the action.
  pragmas: ['synchronous = FULL'],
  replacedOn: ['damaged'],
  asideKept: Infinity
})

function begunAnew(aside: string, cause: unknown): AppError {
  const text = `The audit log was damaged and a new one was begun. The old one is kept as ${aside}: put it where it can be examined.`
  return new AppError('AUDIT_DAMAGED', 'operational', text, { cause, details: { aside } })
}
