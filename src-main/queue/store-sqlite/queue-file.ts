import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { AppError, type Clock } from '../../kernel/index.ts'
import { applicationIdOf, requireOurs, stamp } from './file-identity.ts'
import { isBusy, sqliteAppError, unavailableFile } from './sqlite-errors.ts'

export type SqliteValue = string | number | bigint | Uint8Array | null
export type Parameters = Readonly<Record<string, SqliteValue>>

/** What runs inside a transaction: prepared statements and the one time that holds for all of it. */
export interface Session {
  /** Microseconds since the epoch, UTC, by SQLite's clock, asked once the lock is held. */
  readonly at: number
  run(sql: string, parameters?: Parameters): { changes: number; lastInsertRowid: number | bigint }
  get<Row>(sql: string, parameters?: Parameters): Row | undefined
  all<Row>(sql: string, parameters?: Parameters): Row[]
  /** For a text that differs with each call: it is not kept. */
  allOnce<Row>(sql: string, values: readonly SqliteValue[]): Row[]
}

/** SQLite's own wait for a lock blocks the event loop, and with it heartbeats: keep it short and wait outside. */
const blockingWaitMs = 50
const pauseMs = { least: 5, spread: 20 }
/** After this a call gives up with LOCK_TIMEOUT. */
const lockDeadlineMs = 10_000

const microsecondsNow = "SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000 AS at"

export interface QueueFileOptions {
  readonly file: string
  readonly clock: Clock
  /** Make the file when it is not there. */
  readonly create?: boolean
  /** Change nothing in the file, which keeps its journal mode: every write is refused. */
  readonly inspect?: boolean
}

/**
 * One connection to a queue's file. Other processes may use the same file: writers take the lock at once (BEGIN IMMEDIATE), so
 * what a transaction read cannot change before it writes.
 */
export class QueueFile {
  readonly file: string
  private readonly clock: Clock
  private readonly database: Database.Database
  /** Which file it is: another one, or none, may stand in its place later. */
  private readonly inode: string | undefined
  private readonly statements = new Map<string, Database.Statement<unknown[]>>()

  private constructor(database: Database.Database, { file, clock }: QueueFileOptions) {
    this.database = database
    this.file = file
    this.clock = clock
    this.inode = inodeOf(file)
  }

  /** Throws AppError FILE_UNAVAILABLE, SCHEMA_BROKEN (another program's file, too), LOCK_TIMEOUT or another of `sqliteAppError`. */
  static async open(options: QueueFileOptions): Promise<QueueFile> {
    const { file, create = false } = options
    await stat(dirname(file)).catch((cause: unknown) => {
      throw unavailableFile(file, cause)
    })
    const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
    let database: Database.Database
    try {
      database = new Database(file, {
        timeout: blockingWaitMs,
        fileMustExist: !create,
        ...(nativeBinding ? { nativeBinding } : {})
      })
    } catch (error) {
      throw sqliteAppError(error, file)
    }
    const opened = new QueueFile(database, options)
    try {
      await opened.patiently(() => configure(database, options))
    } catch (error) {
      database.close()
      throw error
    }
    return opened
  }

  /** One transaction that may write. `work` must only touch this session; it is run again when another process was first. */
  write<T>(work: (session: Session) => T): Promise<T> {
    return this.patiently(() => this.transaction('BEGIN IMMEDIATE', work))
  }

  /** One consistent look that takes no lock. */
  read<T>(work: (session: Session) => T): Promise<T> {
    return this.patiently(() => this.transaction('BEGIN DEFERRED', work))
  }

  /** Between two parts of long work: heartbeats and the like must not wait for all of it. */
  letOthersRun(): Promise<void> {
    return this.clock.sleep(0)
  }

  /** Several statements without parameters; inside `write` only. */
  execute(sql: string): void {
    this.database.exec(sql)
  }

  /** Whether the file is marked as ours. */
  get isStamped(): boolean {
    return applicationIdOf(this.database) !== 0
  }

  /** Marks the file as ours; inside `write` only. */
  stamp(): void {
    stamp(this.database)
  }

  /** Whether SQLite's own check finds nothing wrong. Reads the whole file. */
  quickCheck(): Promise<boolean> {
    return this.patiently(() => this.database.pragma('quick_check(1)', { simple: true }) === 'ok')
  }

  /** May be called twice. What is called later throws CONNECTION_LOST. */
  close(): Promise<void> {
    this.statements.clear()
    this.database.close()
    return Promise.resolve()
  }

  private transaction<T>(begin: string, work: (session: Session) => T): T {
    this.requireInPlace()
    this.statement(begin).run()
    try {
      const { at } = this.statement(microsecondsNow).get() as { at: number }
      const result = work(this.session(at))
      this.statement('COMMIT').run()
      return result
    } catch (error) {
      // A full disk has rolled back by itself.
      if (this.database.inTransaction) this.statement('ROLLBACK').run()
      throw error
    }
  }

  /** What is written into a file that was deleted or replaced is gone with it, and SQLite goes on as if nothing had happened. */
  private requireInPlace(): void {
    if (inodeOf(this.file) === this.inode) return
    const message = `${this.file} was deleted or replaced while it was open: put it back, or start again what uses it.`
    throw new AppError('FILE_UNAVAILABLE', 'operational', message)
  }

  private session(at: number): Session {
    return {
      at,
      run: (sql, parameters = {}) => this.statement(sql).run(parameters),
      get: <Row>(sql: string, parameters: Parameters = {}) => this.statement(sql).get(parameters) as Row | undefined,
      all: <Row>(sql: string, parameters: Parameters = {}) => this.statement(sql).all(parameters) as Row[],
      allOnce: <Row>(sql: string, values: readonly SqliteValue[]) => this.database.prepare(sql).all(...values) as Row[]
    }
  }

  private statement(sql: string): Database.Statement<unknown[]> {
    const known = this.statements.get(sql)
    if (known) return known
    const prepared = this.database.prepare<unknown[]>(sql)
    this.statements.set(sql, prepared)
    return prepared
  }

  /** Runs `work` until no other process is in the way, at most `lockDeadlineMs`. */
  private async patiently<T>(work: () => T): Promise<T> {
    const end = this.clock.monotonic() + lockDeadlineMs
    for (;;) {
      if (!this.database.open) throw new AppError('CONNECTION_LOST', 'operational', `${this.file} was closed.`)
      try {
        return work()
      } catch (error) {
        if (!isBusy(error) || this.clock.monotonic() >= end) throw sqliteAppError(error, this.file)
      }
      await this.clock.sleep(pauseMs.least + this.clock.random() * pauseMs.spread)
    }
  }
}

/**
 * WAL: readers and the writer do not wait for each other. NORMAL: a commit is in the operating system when it is
 * acknowledged, so it survives a kill of the process; after a power cut the newest commits may be gone (the file stays
 * consistent). FULL would sync each commit: measured 9 times slower for single tasks.
 */
function configure(database: Database.Database, { file, inspect = false }: QueueFileOptions): void {
  // Before anything is changed. What is no database is found out here too: opening alone reads nothing.
  requireOurs(database, file)
  if (!inspect) database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  if (inspect) database.pragma('query_only = ON')
}

function inodeOf(file: string): string | undefined {
  const facts = statSync(file, { throwIfNoEntry: false, bigint: true })
  return facts && `${facts.dev}:${facts.ino}`
}

/** A task's id as SQLite knows it; undefined when no row can have it. */
export function rowId(id: string): bigint | undefined {
  if (!/^\d{1,20}$/.test(id)) return undefined
  const value = BigInt(id)
  return value <= 9_223_372_036_854_775_807n ? value : undefined
}
