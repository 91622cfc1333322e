import { resolve } from 'node:path'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import {
  AppError,
  newTask,
  systemClock,
  type NewTask,
  type NewTaskInput,
  type SqlDatabase,
  type SqlRunner,
  type TaskFilter,
  type TransactionOptions
} from '../../src-main/kernel/index.ts'
import { mysqlSchema, openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/mariadb.ts'

export const migrationsDir = resolve(import.meta.dirname, '../../migrations/mysql')

const options = {
  accessMode: 'read-write',
  acquireTimeoutMs: 20_000,
  connectTimeoutMs: 20_000,
  statementTimeoutMs: 60_000,
  clock: systemClock
} as const

/** A database of its own with connections and stores that `close` ends. */
export class MysqlQueue {
  readonly made: TestDatabase
  private readonly databases: SqlDatabase[] = []

  private constructor(made: TestDatabase) {
    this.made = made
  }

  static async empty(serverUrl: string): Promise<MysqlQueue> {
    return new MysqlQueue(await createTestDatabase(serverUrl, 'store_mysql'))
  }

  static async migrated(serverUrl: string): Promise<MysqlQueue> {
    const queue = await MysqlQueue.empty(serverUrl)
    await queue.migrate()
    return queue
  }

  async migrate(): Promise<void> {
    await mysqlSchema({ database: await this.connect(2), clock: systemClock, migrationsDir }).migrate()
  }

  async connect(poolSize = 1): Promise<SqlDatabase> {
    const database = await openMysql(parseMysqlUrl(this.made.url), { ...options, poolSize })
    this.databases.push(database)
    return database
  }

  async store(database?: SqlDatabase): Promise<TaskStore> {
    return openMysqlStore({ database: database ?? (await this.connect()), clock: systemClock })
  }

  async close(): Promise<void> {
    await Promise.all(this.databases.map((database) => database.close()))
    await this.made.drop()
  }
}

/** A filter that leaves out nothing. */
export const everything: TaskFilter = {
  ...{ states: [], types: [], owner: null, workerId: null, errorCode: null, search: null },
  ...{ createdFrom: null, createdTo: null }
}

export const tasks = (count: number, input: Partial<NewTaskInput> = {}): NewTask[] =>
  Array.from({ length: count }, () => newTask.parse({ type: 't', payload: '{}', ...input }))

/** Every commit succeeds and its reply is lost: the store is asked to read back, after what others do meanwhile, and repeats what it cannot find. */
export function losingReplies(
  database: SqlDatabase,
  meanwhile: () => Promise<unknown> = () => Promise.resolve()
): SqlDatabase {
  return wrapped(database, async (work, { readBack } = {}) => {
    await database.transaction(work)
    await meanwhile()
    const found = await readBack?.(database)
    return found === undefined ? database.transaction(work) : found
  })
}

/** The first commit is undone and its reply is lost: the store is asked to read back, after what others do meanwhile. */
export function undoingOnce(database: SqlDatabase, meanwhile: () => Promise<unknown>): SqlDatabase {
  let undone = false
  return wrapped(database, async (work, { readBack } = {}) => {
    if (undone) return database.transaction(work)
    undone = true
    const undo = new Error('undone')
    await database
      .transaction(async (runner) => {
        await work(runner)
        throw undo
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error
      })
    await meanwhile()
    return (await readBack?.(database)) ?? database.transaction(work)
  })
}

export interface LockTrouble {
  deadlocks: number
  lockTimeouts: number
}

/** Counts what the database retries by itself. */
export function countingTrouble(database: SqlDatabase, trouble: LockTrouble): SqlDatabase {
  const counted = (runner: SqlRunner): SqlRunner => ({
    execute: (sql, values) =>
      runner.execute(sql, values).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'DEADLOCK') trouble.deadlocks++
        if (error instanceof AppError && error.code === 'LOCK_TIMEOUT') trouble.lockTimeouts++
        throw error
      })
  })
  return wrapped(database, (work, transaction) => database.transaction((runner) => work(counted(runner)), transaction))
}

/** Calls `seen` after each statement of a transaction, which goes on when that is done. */
export function pausing(database: SqlDatabase, seen: (sql: string) => Promise<void>): SqlDatabase {
  const paused = (runner: SqlRunner): SqlRunner => ({
    execute: async (sql, values) => {
      const result = await runner.execute(sql, values)
      await seen(sql)
      return result
    }
  })
  return wrapped(database, (work, transaction) => database.transaction((runner) => work(paused(runner)), transaction))
}

/** Fails instead of running statement number `call` (from 0) and every later one, as a killed process would. */
export function dyingAt(database: SqlDatabase, call: number): { database: SqlDatabase; died: () => boolean } {
  let calls = 0
  const execute: SqlDatabase['execute'] = (sql, values) => {
    if (calls++ >= call) return Promise.reject(new Error('killed'))
    return database.execute(sql, values)
  }
  const dying = wrapped(database, (work, transaction) => database.transaction(work, transaction))
  return { database: { ...dying, execute }, died: () => calls > call }
}

type Transaction = (work: (runner: SqlRunner) => Promise<unknown>, options?: TransactionOptions) => Promise<unknown>

function wrapped(database: SqlDatabase, transaction: Transaction): SqlDatabase {
  return {
    flavour: database.flavour,
    serverVersion: database.serverVersion,
    execute: (sql, values) => database.execute(sql, values),
    transaction: transaction as SqlDatabase['transaction'],
    close: () => database.close()
  }
}
