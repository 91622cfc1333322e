import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openMysql, type AccessMode, type MysqlLogin, type SchemaVerdict } from '../../connections/index.ts'
import { AppError, type Clock, type SqlDatabase } from '../../kernel/index.ts'
import { probeLimits } from '../../monitoring/index.ts'
import { withHints } from '../../queue/pool/index.ts'
import { mysqlSchema, openMysqlStore } from '../../queue/store-mysql/index.ts'
import { openSqliteStore, sqliteSchema } from '../../queue/store-sqlite/index.ts'
import type { SchemaInstaller, SchemaStatus, TaskStore } from '../../queue/task-store.ts'
import type { Obstacle, Opening, OwnQueue } from './queue-link.ts'
import { watchingOn } from './watching.ts'

/*
 * How this app opens databases: few connections, short waits. A page asks for one thing at a time. Probes have a session of their own, with a
 * short time limit of its own, and never change anything.
 */

const poolSizes = {
  page: 3,
  /** One statement in flight, whoever asks. */
  monitor: 1,
  worker: 4,
  /** Heartbeats must not wait behind anything. */
  heartbeat: 1,
  /** One holds the lock of the migration. */
  migration: 2
} as const
const acquireTimeoutMs = 5_000
const connectTimeoutMs = 8_000
const statementTimeoutMs = {
  page: 8_000,
  worker: 8_000,
  heartbeat: 8_000,
  monitor: probeLimits.statementMs,
  /** An index on a large table takes its time. */
  migration: 30 * 60_000
} as const

export interface DatabasePlaces {
  readonly clock: Clock
  /** The project's `migrations`. */
  readonly migrationsDir: string
}

export type MysqlUse = keyof typeof poolSizes

export function openDatabase(
  login: MysqlLogin,
  accessMode: AccessMode,
  { clock, use }: { clock: Clock; use: MysqlUse }
): Promise<SqlDatabase> {
  return openMysql(login, {
    accessMode,
    clock,
    poolSize: poolSizes[use],
    acquireTimeoutMs,
    connectTimeoutMs,
    statementTimeoutMs: statementTimeoutMs[use]
  })
}

export const mysqlInstaller = (database: SqlDatabase, places: DatabasePlaces): SchemaInstaller =>
  mysqlSchema({ database, clock: places.clock, migrationsDir: join(places.migrationsDir, 'mysql') })

export async function openMysqlQueue(
  login: MysqlLogin,
  accessMode: AccessMode,
  places: DatabasePlaces
): Promise<{ opening: Opening<OwnQueue>; database: Pick<SqlDatabase, 'flavour' | 'serverVersion'> }> {
  const database = await openDatabase(login, accessMode, { clock: places.clock, use: 'page' })
  try {
    const status = await mysqlInstaller(database, places).status()
    const seesEnough = status.status === 'missing' && (await seesTasksAlone(database, accessMode))
    if (status.status !== 'ready' && !seesEnough) {
      await database.close()
      return { opening: obstacleOf(status), database }
    }
    const { clock } = places
    const watching = watchingOn(() => openDatabase(login, 'read-only', { clock, use: 'monitor' }), clock)
    const claims = accessMode === 'read-write'
    const store = withHints(await openMysqlStore({ database, clock, claims, probes: watching.probes }), { clock })
    const close = async (): Promise<void> => {
      await store.close()
      await Promise.all([database.close(), watching.close()])
    }
    return { opening: { status: 'ready', queue: ownQueue(store, close) }, database }
  } catch (error) {
    await database.close()
    throw error
  }
}

const findTasks = `
SELECT COUNT(*) AS n FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'taskdeck_task'`

/**
 * An account that may read the tasks and not the journal of migrations is not told that the journal exists. It can look at the queue; it cannot
 * work on it. Throws NO_RIGHTS when it wants to.
 */
async function seesTasksAlone(database: SqlDatabase, accessMode: AccessMode): Promise<boolean> {
  const [row] = (await database.execute(findTasks)).rows
  if (Number(row?.['n']) === 0) return false
  if (accessMode === 'read-only') return true
  const text =
    'This account sees taskdeck_task and not the other tables: ask for GRANT SELECT, INSERT, UPDATE, DELETE on this database, or connect read-only.'
  throw new AppError('NO_RIGHTS', 'user', text)
}

/** The embedded queue is ours alone, so its tables are brought up to date without asking. Throws FILE_UNAVAILABLE and what its store throws. */
export async function openLocalQueue(file: string, places: DatabasePlaces): Promise<Opening> {
  await refuseIrregular(file)
  const options = { file, clock: places.clock, migrationsDir: join(places.migrationsDir, 'sqlite') }
  const installer = sqliteSchema(options)
  const before = await installer.status()
  if (before.status === 'newer') return obstacleOf(before)
  if (before.status !== 'ready') await installer.migrate()
  const store = withHints(await openSqliteStore(options), { clock: places.clock })
  return { status: 'ready', queue: ownQueue(store, () => store.close()) }
}

const ownQueue = (store: TaskStore, close: () => Promise<void>): OwnQueue => ({
  read: (signal) => store.read(signal),
  store,
  close
})

/** SQLite would wait for ever, and all of this process with it, for somebody to write into a pipe. */
async function refuseIrregular(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (!found || found.isFile()) return
  const text = `${file} is not a regular file, so the local queue cannot be opened: move it away.`
  throw new AppError('FILE_UNAVAILABLE', 'operational', text, { details: { path: file } })
}

export function obstacleOf(status: Exclude<SchemaStatus, { status: 'ready' }>): Obstacle {
  if (status.status === 'missing') return { status: 'schema', schema: 'missing', version: 0, latest: 0 }
  return { status: 'schema', schema: status.status, version: status.version, latest: status.latest }
}

/** What the last step of a connection test says. A missing schema is no failure: it can be made. */
export async function schemaVerdict(database: SqlDatabase, places: DatabasePlaces): Promise<SchemaVerdict> {
  const status = await mysqlInstaller(database, places).status()
  switch (status.status) {
    case 'ready':
      return { status: 'ok', notes: [{ code: 'schemaReady', values: { version: status.version } }], problem: null }
    case 'missing':
      return { status: 'warning', notes: [{ code: 'schemaMissing' }], problem: null }
    case 'outdated': {
      const { version, latest } = status
      return { status: 'warning', notes: [{ code: 'schemaOutdated', values: { version, latest } }], problem: null }
    }
    case 'newer': {
      const message = `The tables are of a newer Taskdeck (version ${status.version}; this one knows ${status.latest}): use that version.`
      return { status: 'failed', notes: [], problem: new AppError('SCHEMA_NEWER', 'user', message) }
    }
  }
}
