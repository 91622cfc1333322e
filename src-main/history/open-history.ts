import { join } from 'node:path'
import type { AppError } from '../kernel/index.ts'
import { openSqlite, openSqliteFile, type SqliteFileFormat } from '../sqlite-file/index.ts'
import { FileHistory } from './file-history.ts'
import type { History, HistoryOptions } from './history-port.ts'
import { HistoryStore } from './history-store.ts'
import { rebuilt, unusable } from './notices.ts'

const defaultMaxBytes = 256 * 1024 * 1024
const memoryMaxBytes = 64 * 1024 * 1024
const pageBytes = 4096
/** Ticks are written once and read in long runs: a large cache would gain nothing. */
const cacheKib = 2_000

/**
 * Opens the file after a check of its pages. One that is damaged, foreign or newer is renamed aside and begun anew
 * (notice HISTORY_DAMAGED); one that cannot be written, or is no regular file, is left alone (HISTORY_UNAVAILABLE, DISK_FULL).
 */
export function openHistory(options: HistoryOptions): { history: History; notice?: AppError } {
  const { file, clock, maxBytes = defaultMaxBytes } = options
  const migrationsDir = join(options.migrationsDir, 'history')
  const inMemory = (): HistoryStore =>
    openSqlite(':memory:', formatOf(migrationsDir, memoryMaxBytes), (db) => new HistoryStore(db))
  const opened = openSqliteFile(file, formatOf(migrationsDir, maxBytes), { clock, use: (db) => new HistoryStore(db) })
  if (opened.status === 'unusable')
    return { history: new FileHistory(options, undefined, inMemory), notice: unusable(opened.fault, opened.cause) }
  const history = new FileHistory(options, opened.value, inMemory)
  return opened.status === 'opened' ? { history } : { history, notice: rebuilt(opened.aside, opened.cause) }
}

const formatOf = (migrationsDir: string, maxBytes: number): SqliteFileFormat => ({
  applicationId: 0x54446869, // "TDhi"
  migrationsDir,
  // Another Taskdeck holds the file for as long as it runs; waiting does not help.
  busyTimeoutMs: 250,
  // One owner: a second instance must not write to the same file (FAULTS 80), nor set it aside as damaged.
  exclusive: true,
  pragmas: ['synchronous = NORMAL', `cache_size = -${cacheKib}`, `max_page_count = ${Math.ceil(maxBytes / pageBytes)}`],
  replacedOn: ['damaged', 'foreign', 'newer'],
  asideKept: 3
})
