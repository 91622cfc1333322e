import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { benchTask, type FromProcess, type ToProcess } from './protocol.ts'

/* One worker process of @serenis/mysql-queue from the folder that is named; told what to do as ours is. */

interface PeerQueue {
  globalInitialize(): Promise<void>
  globalDestroy(): Promise<void>
  jobsTable(): string
  upsertQueue(name: string): Promise<unknown>
  enqueue(name: string, jobs: readonly { name: string; payload: unknown }[]): Promise<unknown>
  work(name: string, callback: (jobs: readonly unknown[]) => Promise<void>, options: object): Promise<PeerWorker>
}

interface PeerWorker {
  start(): Promise<void>
  stop(): Promise<void>
}

const url = process.env['TASKDECK_CONNECTION'] ?? ''
const folder = process.argv[2] ?? ''
const load = createRequire(join(folder, 'peers.js'))
const driver = load('mysql2/promise') as { createPool: (options: unknown) => Pool }
const enqueuedAtOnce = 500
const pollMs = 5
const name = 'bench'

const createPool = driver.createPool.bind(driver)
driver.createPool = (options) => withPlainIndex(createPool(options))
const { MysqlQueue } = load('@serenis/mysql-queue') as { MysqlQueue: (options: object) => PeerQueue }
const pool = createPool(url)
const queue = MysqlQueue({ dbUri: url, loggingLevel: 'error' })
await queue.globalInitialize()
await queue.upsertQueue(name)
let worker: PeerWorker | undefined
let waiting = 0

const tell = (message: FromProcess): void => void process.send?.(message)
process.on('message', (message: ToProcess) => void obey(message))
tell({ kind: 'ready' })

async function obey(message: ToProcess): Promise<void> {
  if (message.mode === 'stop') process.exit(0)
  await worker?.stop()
  worker = undefined
  if (message.mode === 'fill') await fill(message.count)
  if (message.mode === 'engine') worker = await start(message.batch)
  tell({ kind: 'ready' })
}

async function fill(count: number): Promise<void> {
  await pool.query(`TRUNCATE TABLE ${queue.jobsTable()}`)
  const job = { name, payload: JSON.parse(benchTask.payload) as unknown }
  for (let left = count; left > 0; left -= enqueuedAtOnce)
    await queue.enqueue(
      name,
      Array.from({ length: Math.min(left, enqueuedAtOnce) }, () => job)
    )
  waiting = count
}

/** Tells that all are done once its table says so: its callbacks come before that. */
async function start(concurrency: number): Promise<PeerWorker> {
  let seen = 0
  const callback = (jobs: readonly unknown[]): Promise<void> => {
    seen += jobs.length
    if (seen === waiting) void untilStored().then(() => tell({ kind: 'done', count: seen }))
    return Promise.resolve()
  }
  const options = { pollingBatchSize: concurrency, callbackBatchSize: 1, pollingIntervalMs: pollMs }
  const started = await queue.work(name, callback, options)
  void started.start()
  return started
}

async function untilStored(): Promise<void> {
  const left = `SELECT COUNT(*) AS n FROM ${queue.jobsTable()} WHERE status IN ('pending', 'running')`
  for (;;) {
    const [rows] = await pool.query(left)
    if (Number((rows as { n: number }[])[0]?.n) === 0) return
    await delay(pollMs)
  }
}

/** Two of its migrations want an index on an expression, which MariaDB has not: a plain one instead, which serves no statement of this run. */
function withPlainIndex(made: Pool): Pool {
  const expression = /\(queueId, name, \(CASE WHEN[^)]*(\([^)]*\))?[^)]*END\)\)/g
  const getConnection = made.getConnection.bind(made)
  const seen = new WeakSet<PoolConnection>()
  made.getConnection = async () => {
    const connection = await getConnection()
    if (seen.has(connection)) return connection
    seen.add(connection)
    const query = connection.query.bind(connection) as (sql: unknown, values: unknown) => unknown
    const patched = (sql: unknown, values: unknown): unknown =>
      query(typeof sql === 'string' ? sql.replace(expression, '(queueId, name, pendingDedupKey)') : sql, values)
    connection.query = patched as typeof connection.query
    return connection
  }
  return made
}
