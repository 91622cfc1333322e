import { join, resolve } from 'node:path'
import { defaultArtifactDirectory } from '../app/default-data-directory.ts'
import { mysqlInstaller, openDatabase, openMysqlQueue, type DatabasePlaces } from '../app/links/open-queue.ts'
import { requireSchema } from '../app/links/ready-schema.ts'
import { sqlitePathOf } from '../app/sqlite-address.ts'
import { openWorkerQueue, type WorkerQueue } from '../app/worker/worker-queue.ts'
import { parseMysqlUrl, type MysqlLogin } from '../connections/index.ts'
import { AppError, systemClock, withDeadline } from '../kernel/index.ts'
import { withHints } from '../queue/pool/index.ts'
import { openSqliteStore, sqliteSchema } from '../queue/store-sqlite/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import type { OpenQueueOptions, QueueTarget } from './queue.ts'

/** `src-main/package` and `out/package` lie equally deep. */
const packageRoot = join(import.meta.dirname, '../..')
const places: DatabasePlaces = { clock: systemClock, migrationsDir: join(packageRoot, 'migrations') }
const packageFile = join(packageRoot, 'package.json')

export type Where =
  { readonly kind: 'mysql'; readonly login: MysqlLogin } | { readonly kind: 'sqlite'; readonly file: string }

export interface OpenedStore {
  readonly store: TaskStore
  close(): Promise<void>
}

/** Throws INVALID_INPUT; it never repeats the address, which may hold a password. */
export function whereIs(target: QueueTarget): Where {
  if (typeof target === 'object' && target !== null && typeof target.file === 'string' && target.file !== '')
    return { kind: 'sqlite', file: runnable(resolve(target.file)) }
  if (typeof target === 'string') {
    // As the command line has it, so that one setting serves all.
    const path = sqlitePathOf(target)
    if (path !== undefined) return { kind: 'sqlite', file: runnable(resolve(path)) }
    if (target.startsWith('mysql:')) return { kind: 'mysql', login: parseMysqlUrl(target) }
  }
  const message = 'Name the queue by mysql://user:password@host:port/database, by sqlite:PATH or by { file: path }.'
  throw new AppError('INVALID_INPUT', 'user', message)
}

/** better-sqlite3 ends an older Node with a segmentation fault as it loads. */
const leastNodeForFiles = 22

function runnable(file: string): string {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= leastNodeForFiles) return file
  const message = `A queue in a file needs Node ${leastNodeForFiles}.18 or newer, and this is Node ${node}. A queue on a MySQL or MariaDB server works here.`
  throw new AppError('INVALID_INPUT', 'user', message)
}

/** Connections for submitting and looking. */
export async function openStore(where: Where, options: OpenQueueOptions): Promise<OpenedStore> {
  await prepareTables(where, options)
  if (where.kind === 'sqlite') {
    const store = withHints(await openSqliteStore(sqlitePlace(where.file)), { clock: systemClock })
    return { store, close: () => store.close() }
  }
  const { opening } = await openMysqlQueue(where.login, 'read-write', places)
  if (opening.status === 'ready') return { store: opening.queue.store, close: () => opening.queue.close() }
  throw new AppError('SCHEMA_OUTDATED', 'user', 'The tables were changed while the queue was opened: open it again.')
}

/** A worker's own connections, heartbeats apart. */
export function openForWorker(where: Where): Promise<WorkerQueue> {
  return where.kind === 'mysql' ? openWorkerQueue(where.login, '', places) : openWorkerQueue(null, where.file, places)
}

/** For connections to end that may hang. */
const closeMs = 2_000

/** Never rejects: what does not end in time ends with the process. */
export async function letGo(opened: { close(): Promise<void> }): Promise<void> {
  const late = (): Error => new AppError('CONNECTION_LOST', 'operational', 'The database did not let go in time.')
  await withDeadline(systemClock, closeMs, opened.close(), late).catch(() => undefined)
}

export const defaultArtifactDir = (where: Where): string =>
  defaultArtifactDirectory(where.kind === 'sqlite' ? { file: where.file } : { login: where.login })

export { packageFile }

async function prepareTables(where: Where, options: OpenQueueOptions): Promise<void> {
  // A file is this program's own; the tables of a shared server are made by someone who decided to.
  const wish = { migrate: options.migrate ?? where.kind === 'sqlite', advice: 'open it once with { migrate: true }' }
  if (where.kind === 'sqlite') {
    await requireSchema(sqliteSchema(sqlitePlace(where.file)), wish)
    return
  }
  const database = await openDatabase(where.login, 'read-write', { clock: systemClock, use: 'migration' })
  try {
    await requireSchema(mysqlInstaller(database, places), wish)
  } finally {
    await database.close()
  }
}

const sqlitePlace = (file: string) => ({
  file,
  clock: systemClock,
  migrationsDir: join(places.migrationsDir, 'sqlite')
})
