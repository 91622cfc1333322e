import { join } from 'node:path'
import type { AppError } from '../kernel/index.ts'
import { openSqlite, openSqliteFile, type SqliteFileFormat } from '../sqlite-file/index.ts'
import { begunAnew, leftAlone } from './alert-faults.ts'
import { AlertStore } from './alert-store.ts'
import type { Alerts, AlertsOptions } from './alerts-port.ts'
import { KeptAlerts } from './kept-alerts.ts'

/**
 * Opens the file after a check of its pages. A damaged one is renamed aside, kept for good, and a new one begun (notice ALERTS_DAMAGED).
 * One that is newer, foreign, no regular file, locked or not writable is left alone, and the default rules watch in memory
 * (ALERTS_UNAVAILABLE, DISK_FULL): a queue must not go unwatched because of a file. Never throws.
 */
export function openAlerts(options: AlertsOptions): { alerts: Alerts; notice?: AppError } {
  const format = formatOf(options.migrationsDir)
  const use = (db: ConstructorParameters<typeof AlertStore>[0]): AlertStore => new AlertStore(db)
  const opened = openSqliteFile(options.file, format, { clock: options.clock, use })
  if (opened.status === 'opened') return { alerts: new KeptAlerts(opened.value, options) }
  if (opened.status === 'begun-anew') {
    return { alerts: new KeptAlerts(opened.value, options), notice: begunAnew(opened.aside, opened.cause) }
  }
  const inMemory = openSqlite(':memory:', format, use)
  return { alerts: new KeptAlerts(inMemory, options), notice: leftAlone(opened.fault, opened.cause) }
}

const formatOf = (migrationsDir: string): SqliteFileFormat => ({
  applicationId: 0x5444616c, // "TDal"
  migrationsDir: join(migrationsDir, 'alerts'),
  busyTimeoutMs: 1_000,
  exclusive: false,
  // It is the user's configuration, and written seldom.
  pragmas: ['synchronous = FULL', 'foreign_keys = ON'],
  replacedOn: ['damaged'],
  asideKept: Infinity
})
