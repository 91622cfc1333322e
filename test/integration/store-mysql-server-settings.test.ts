import mysql from 'mysql2/promise'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Fence, SqlDatabase } from '../../src-main/kernel/index.ts'
import type { Settlement, TaskStore } from '../../src-main/queue/task-store.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { openMysqlRowSink } from '../../src-main/queue/store-mysql/index.ts'
import { MysqlQueue, tasks } from './store-mysql-queue.ts'

/*
 * A server that is set up for people at consoles, and whose databases have an older character set: the tables say theirs, but a JSON_TABLE takes
 * the database's.
 */

const words = '张三 ü € ✖ 🎩'

const settings = 'sql_safe_updates = 1, GLOBAL sql_select_limit = 3, GLOBAL max_join_size = 10'

let server: TestMariaDb
let queue: MysqlQueue
let database: SqlDatabase
let store: TaskStore

beforeAll(async () => {
  server = await startPrivateMariaDb({ serverOptions: ['--character-set-server=latin1'] })
  const admin = await mysql.createConnection({ uri: server.url() })
  await admin.query(`SET GLOBAL ${settings}`)
  await admin.end()
  queue = await MysqlQueue.migrated(server.url())
  database = await queue.connect()
  store = await queue.store(database)
})
afterAll(async () => {
  await queue.close()
  await server.stop()
})

async function running(): Promise<Fence> {
  await store.submit(tasks(1))
  const [task] = await store.claim({ workerId: 'w', limit: 1, leaseMs: 60_000, types: ['t'] })
  if (!task) throw new Error('nothing to claim')
  return task.fence
}

const settle = async (settlement: Settlement): Promise<void> => void (await store.settle([settlement]))
const column = async (sql: string, taskId: string): Promise<unknown> =>
  (await database.execute(`SELECT ${sql} AS value FROM taskdeck_task WHERE id = ?`, [taskId])).rows[0]?.['value']

it('keeps a checkpoint, log lines, artifacts and an error as they were given', async () => {
  const fence = await running()
  await store.saveProgress([{ fence, checkpoint: JSON.stringify(words) }])
  await store.appendLog([{ fence, level: 'info', message: words }])
  const artifact = { name: words, contentType: 'text/plain', bytes: 1, host: words, path: words, expiresInMs: 60_000 }
  const error = { code: 'NO', class: 'final', message: words } as const
  await settle({ fence, outcome: 'FAILED', error, artifacts: [artifact] })
  expect(await column('checkpoint', fence.taskId)).toBe(JSON.stringify(words))
  expect(await column('error_message', fence.taskId)).toBe(words)
  expect(await store.get(fence.taskId)).toMatchObject({
    attempts: [{ error: { message: words } }],
    artifacts: [{ name: words, path: words }]
  })
  expect(await store.log(fence.taskId, null)).toMatchObject([{ message: words }])
})

const progress = { total: 1, processed: 1, succeeded: 1, failed: 0, skipped: 0 }

it.each([
  ['with progress', { progress }],
  ['alone', {}]
])('keeps a result, %s', async (_, more) => {
  const fence = await running()
  await settle({ fence, outcome: 'SUCCESS', result: JSON.stringify(words), ...more })
  expect(await column('result', fence.taskId)).toBe(JSON.stringify(words))
})

it('reads and writes as many rows as it asks for, and migrates what is there already', async () => {
  await store.submit(tasks(20))
  const claimed = await store.claim({ workerId: 'w', limit: 20, leaseMs: 60_000, types: ['t'] })
  expect(claimed).toHaveLength(20)
  const results = await store.settle(
    claimed.map(({ fence }): Settlement => ({ fence, outcome: 'SUCCESS', result: null, progress }))
  )
  expect(results.map(({ state }) => state)).toEqual(claimed.map(() => 'SUCCESS'))
  await queue.migrate()
})

it('answers the ids that tasks have while the server changes the steps between ids, as a cluster does', async () => {
  const admin = await mysql.createConnection({ uri: server.url() })
  onTestFinished(() => admin.end())
  const two = await queue.store(await queue.connect(2))
  for (const step of [3, 1]) {
    await admin.query(`SET GLOBAL auto_increment_increment = ${step}`)
    // The second needs a session that begins now.
    const answered = (await Promise.all([two.submit(tasks(3)), two.submit(tasks(3))])).flat()
    for (const { taskId } of answered) expect(await store.get(taskId)).toMatchObject({ id: taskId })
    await two.submit(tasks(1))
  }
})

it('takes more rows of an import than one packet holds', async () => {
  const rows = Array.from({ length: 128 }, (_, at) => ({ rowNumber: at, data: JSON.stringify('张'.repeat(65_000)) }))
  expect(await openMysqlRowSink({ database }).insert('large', rows)).toBe(rows.length)
})
