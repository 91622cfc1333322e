import { join, resolve } from 'node:path'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { systemClock } from '../../src-main/kernel/index.ts'
import { createWorker, newWorkerId } from '../../src-main/queue/pool/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { openSqliteStore } from '../../src-main/queue/store-sqlite/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'

/* A worker as `npm run worker` starts it, with all its defaults, that tells its parent how often it polled. */

const connection = process.env['TASKDECK_CONNECTION'] ?? ''
const root = resolve(import.meta.dirname, '../..')
const clock = systemClock

async function openStore(): Promise<TaskStore> {
  if (connection.startsWith('sqlite:')) {
    const file = connection.slice('sqlite:'.length)
    return openSqliteStore({ file, clock, migrationsDir: join(root, 'migrations/sqlite') })
  }
  const limits = { acquireTimeoutMs: 5_000, connectTimeoutMs: 8_000, statementTimeoutMs: 8_000 }
  const login = parseMysqlUrl(connection)
  const database = await openMysql(login, { ...limits, accessMode: 'read-write', poolSize: 4, clock })
  return openMysqlStore({ database, clock })
}

const store = await openStore()
let polls = 0
const counted = new Proxy(store, {
  get(target, name) {
    if (name === 'claim') polls++
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? (value.bind(target) as unknown) : value
  }
})
const worker = createWorker({
  ...{ store: counted, heartbeatStore: store, clock, workerId: newWorkerId(), version: '0.0.0', slots: 4 },
  handlers: { builtIn: true, dir: null },
  artifactDir: process.argv[2] ?? ''
})
process.on('message', () => process.send?.(polls))
process.on('SIGTERM', () => {
  void worker.stop().then(() => process.exit(0))
})
// Nobody would end it when its parent was killed.
process.on('disconnect', () => process.exit(1))
await worker.start()
// Its ports are read from its row: submitters that look before its first report hear of it seconds later.
while (!(await store.read()).workers.some(({ status }) => status === 'running')) await clock.sleep(20)
process.send?.(polls)
