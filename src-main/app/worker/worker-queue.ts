import { join } from 'node:path'
import type { MysqlLogin } from '../../connections/index.ts'
import { StopStack } from '../../kernel/index.ts'
import type { RowSink } from '../../queue/row-sink.ts'
import { withHints } from '../../queue/pool/index.ts'
import { openMysqlRowSink, openMysqlStore } from '../../queue/store-mysql/index.ts'
import { openSqliteRowSink, openSqliteStore } from '../../queue/store-sqlite/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { openDatabase, type DatabasePlaces } from '../links/open-queue.ts'

/** A worker's own way to its queue: it goes on when the page's connections are busy or broken. */
export interface WorkerQueue {
  readonly store: TaskStore
  /** Nothing delays heartbeats: a connection of their own. */
  readonly heartbeatStore: TaskStore
  readonly rowSink: RowSink
  close(): Promise<void>
}

export async function openWorkerQueue(
  login: MysqlLogin | null,
  localFile: string,
  places: DatabasePlaces
): Promise<WorkerQueue> {
  const opened = new StopStack()
  try {
    return login ? await openOnMysql(login, places, opened) : await openOnSqlite(localFile, places, opened)
  } catch (error) {
    await opened.stop().catch(() => undefined)
    throw error
  }
}

async function openOnMysql(login: MysqlLogin, { clock }: DatabasePlaces, opened: StopStack): Promise<WorkerQueue> {
  const database = await openDatabase(login, 'read-write', { clock, use: 'worker' })
  opened.add(() => database.close())
  const heartbeats = await openDatabase(login, 'read-write', { clock, use: 'heartbeat' })
  opened.add(() => heartbeats.close())
  const store = withHints(await openMysqlStore({ database, clock }), { clock })
  opened.add(() => store.close())
  const heartbeatStore = await openMysqlStore({ database: heartbeats, clock })
  const rowSink = openMysqlRowSink({ database })
  return { store, heartbeatStore, rowSink, close: () => opened.stop() }
}

async function openOnSqlite(file: string, places: DatabasePlaces, opened: StopStack): Promise<WorkerQueue> {
  const { clock, migrationsDir } = places
  const opening = openSqliteStore({ file, clock, migrationsDir: join(migrationsDir, 'sqlite') })
  const store = withHints(await opening, { clock })
  opened.add(() => store.close())
  const rowSink = await openSqliteRowSink({ file, clock })
  opened.add(() => rowSink.close())
  return { store, heartbeatStore: store, rowSink, close: () => opened.stop() }
}
