import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import mysql from 'mysql2/promise'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newTask, systemClock } from '../../src-main/kernel/index.ts'
import { idempotencyHash, payloadHash } from '../../src-main/queue/idempotency.ts'
import { splitStatements } from '../../src-main/queue/migration-files.ts'
import { openSqliteStore, sqliteSchema } from '../../src-main/queue/store-sqlite/index.ts'
import type { ClaimedTask, TaskStore } from '../../src-main/queue/task-store.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { temporaryDir } from './pool-support/start-worker.ts'

/* The statements of docs/sql-protocol.md, word for word, by a client that knows nothing of Taskdeck. */

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/sql-protocol.md'), 'utf8')
const block = /^```sql (mysql|sqlite) ([a-z-]+)\n([\s\S]*?)^```$/gm

type Kind = 'mysql' | 'sqlite'
type Rows = Record<string, unknown>[]

const blocks = [...page.matchAll(block)].map(([, kind, name, text]) => ({
  kind,
  name,
  statements: splitStatements(text ?? '')
}))

interface Client {
  readonly store: TaskStore
  /** Runs a block of the page, its task 1 being `taskId`; what its statements returned. */
  readonly run: (name: string, taskId?: string) => Promise<Rows[]>
}

function statementsOf(kind: Kind, name: string, taskId: string): string[] {
  const found = blocks.find((one) => one.kind === kind && one.name === name)
  if (!found) throw new Error(`the page has no block ${kind} ${name}`)
  return found.statements.map((sql) => sql.replace(/\b(id|task_id) = 1\b/g, `$1 = ${taskId}`))
}

async function onMysql(): Promise<Client> {
  const database = await createTestDatabase(inject('mariadbUrl'), 'sql_protocol')
  onTestFinished(() => database.drop())
  const queue = await openTestQueue(database.url)
  onTestFinished(() => queue.close())
  // Another time zone than ours: nothing on the page may depend on it.
  const connection = await mysql.createConnection({ uri: database.url, timezone: 'Z' })
  await connection.query(`SET time_zone = '+05:30'`)
  onTestFinished(() => connection.end())
  return {
    store: queue.store,
    async run(name, taskId = '1') {
      const results: Rows[] = []
      for (const sql of statementsOf('mysql', name, taskId)) {
        const [rows] = await connection.query<mysql.RowDataPacket[]>(sql)
        results.push(Array.isArray(rows) ? rows : [rows])
      }
      return results
    }
  }
}

async function onSqlite(): Promise<Client> {
  const options = {
    file: join(temporaryDir(), 'queue.sqlite'),
    clock: systemClock,
    migrationsDir: join(root, 'migrations/sqlite')
  }
  await sqliteSchema(options).migrate()
  const store = await openSqliteStore(options)
  onTestFinished(() => store.close())
  const database = new Database(options.file)
  onTestFinished(() => void database.close())
  return {
    store,
    run: (name, taskId = '1') =>
      Promise.resolve(
        statementsOf('sqlite', name, taskId).map((sql) => {
          const statement = database.prepare(sql)
          if (statement.reader) return statement.all() as Rows
          return [{ affectedRows: statement.run().changes }]
        })
      )
  }
}

const claim = (store: TaskStore, ...types: string[]): Promise<ClaimedTask[]> =>
  store.claim({ workerId: 'worker', limit: 10, leaseMs: 30_000, types })

const idOf = (results: Rows[]): string => String(results.at(-1)?.[0]?.['task_id'])
const changed = (results: Rows[]): number[] => results.map(([first]) => Number(first?.['affectedRows']))

it('the page has the same parts for both databases, but for what one of them does not compute', () => {
  const namesOf = (kind: Kind): (string | undefined)[] =>
    blocks.filter((one) => one.kind === kind).map(({ name }) => name)
  expect(namesOf('mysql').filter((name) => name !== 'submit-later')).toEqual(namesOf('sqlite'))
  expect(page.match(/^```sql/gm)).toHaveLength(blocks.length)
})

it('the hashes in its text are those of Taskdeck', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()
  const payloads = ['{"to":"ada@example.com"}', '{"order":17}'].map((payload) => hex(payloadHash(payload)))
  const key = hex(idempotencyHash({ type: 'mail.send', owner: 'billing', key: 'receipt-17' }))
  expect(new Set(page.match(/[0-9A-F]{64}/g))).toEqual(new Set([...payloads, key]))
})

describe.each([
  ['mysql', onMysql],
  ['sqlite', onSqlite]
] as const)('on %s', (_kind, open) => {
  it('a submitted task is claimed at once, with the defaults of its type', async () => {
    const { store, run } = await open()
    const id = idOf(await run('submit'))
    const [task, ...more] = await claim(store, 'mail.send')
    expect(more).toEqual([])
    expect(task).toMatchObject({
      fence: { taskId: id, attempt: 1 },
      owner: 'billing',
      title: 'Receipt for Ada',
      payload: '{"to":"ada@example.com"}',
      maxAttempts: 5,
      timeoutMs: null
    })
  })

  it('a key is one task, for SQL and for Taskdeck alike', async () => {
    const { store, run } = await open()
    const first = (await run('submit-once')).at(-1)
    const second = (await run('submit-once')).at(-1)
    expect(first).toEqual(second)
    expect(first).toMatchObject([{ state: 'QUEUED', same_payload: 1 }])
    const same = newTask.parse({
      type: 'mail.send',
      owner: 'billing',
      idempotencyKey: 'receipt-17',
      payload: '{"order":17}'
    })
    const taskId = String(first?.[0]?.['task_id'])
    expect(await store.submit([same])).toEqual([{ status: 'exists', taskId }])
    expect(await store.submit([{ ...same, payload: '{}' }])).toEqual([{ status: 'conflict', taskId }])
  })

  it('the same key with another payload is seen as the mistake that it is', async () => {
    const { store, run } = await open()
    const other = { type: 'mail.send', owner: 'billing', idempotencyKey: 'receipt-17', payload: '{"order":18}' }
    await store.submit([newTask.parse(other)])
    expect((await run('submit-once')).at(-1)).toMatchObject([{ same_payload: 0 }])
  })

  it('reading shows a task on its way, and lists', async () => {
    const { store, run } = await open()
    const id = idOf(await run('submit'))
    const [claimed] = await claim(store, 'mail.send')
    const fence = claimed!.fence
    await store.saveProgress([{ fence, progress: { total: 10, processed: 4, succeeded: 3, failed: 1, skipped: 0 } }])
    await store.appendLog([{ fence, level: 'info', message: 'on its way' }])
    const [running, , log] = await run('look', id)
    expect(running).toMatchObject([{ state: 'RUNNING', attempt: 1, worker_id: 'worker' }])
    expect(running?.map((row) => Number(row['progress_processed']))).toEqual([4])
    expect(log).toMatchObject([{ level: 'info', message: 'on its way' }])
    const error = { code: 'NO_SUCH_USER', message: 'nobody', class: 'final' } as const
    await store.settle([{ fence, outcome: 'FAILED', error }])
    const [ended, attempts, , counts, failed, letters, workers] = await run('look', id)
    expect(ended).toMatchObject([{ state: 'FAILED', error_code: 'NO_SUCH_USER' }])
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'FAILED', error_code: 'NO_SUCH_USER' }])
    expect(failed?.map((row) => String(row['id']))).toEqual([id])
    expect(letters).toMatchObject([{ reason: 'FINAL', last_error_code: 'NO_SUCH_USER' }])
    expect([counts, workers]).toEqual([[], []])
  })

  it('a waiting task is cancelled, a running one is asked to stop, and an ended one is left alone', async () => {
    const { store, run } = await open()
    const waiting = idOf(await run('submit'))
    expect(changed(await run('cancel', waiting))).toEqual([1, 0])
    expect(await store.get(waiting)).toMatchObject({ state: 'CANCELLED' })
    expect(changed(await run('cancel', waiting))).toEqual([0, 0])

    const running = idOf(await run('submit'))
    const [claimed] = await claim(store, 'mail.send')
    expect(changed(await run('cancel', running))).toEqual([0, 1])
    const fence = claimed!.fence
    expect((await store.settle([{ fence, outcome: 'CANCELLED' }]))[0]).toMatchObject({ state: 'CANCELLED' })
  })

  it('a task that others wait for is not cancelled behind their back', async () => {
    const { store, run } = await open()
    const parent = idOf(await run('submit'))
    await store.submit([newTask.parse({ type: 'mail.send', payload: '{}', after: [parent] })])
    expect(changed(await run('cancel', parent))).toEqual([0, 0])
  })

  it('a held task is released, once', async () => {
    const { store, run } = await open()
    const [held] = await store.submit([newTask.parse({ type: 'mail.send', payload: '{}', held: true })])
    const id = held?.taskId ?? ''
    expect(changed(await run('release', id))).toEqual([1])
    expect(changed(await run('release', id))).toEqual([0])
    expect(await claim(store, 'mail.send')).toHaveLength(1)
  })

  it('a policy and a schedule are what Taskdeck reads', async () => {
    const { store, run } = await open()
    await run('policy')
    await run('policy')
    expect(await store.policies()).toMatchObject([{ scope: 'TYPE', name: 'mail.send', maxRunning: 4, enabled: null }])
    await run('delays')
    await run('submit')
    const [claimed] = await claim(store, 'mail.send')
    expect(claimed?.retryPolicy).toEqual({ kind: 'list', delaysMs: [5_000, 30_000, 300_000] })
    await run('schedule')
    await store.runSchedules()
    const [schedule] = await store.schedules()
    expect(schedule).toMatchObject({ name: 'nightly report', problem: null, enabled: true })
    expect(schedule?.nextAt).toBeGreaterThan(0)
  })
})

it('a later task and a held one wait, with what they were given', async () => {
  const { store, run } = await onMysql()
  await run('submit-later')
  expect(await claim(store, 'report.build')).toEqual([])
  const { rows } = await store.list(
    {
      states: [],
      types: ['report.build'],
      owner: null,
      workerId: null,
      errorCode: null,
      search: null,
      createdFrom: null,
      createdTo: null
    },
    10,
    null
  )
  const [held, later] = rows
  expect(held).toMatchObject({ title: 'Held', state: 'CREATED', deadlineAt: null })
  expect(later).toMatchObject({ title: 'Nightly', state: 'QUEUED', maxAttempts: 3, timeoutMs: 60_000 })
  // UTC, though the session's zone is another.
  expect((later?.runAt ?? 0) - (later?.createdAt ?? 0)).toBe(600_000)
  expect(Math.abs((later?.createdAt ?? 0) - Date.now())).toBeLessThan(600_000)
  await store.act(held?.id ?? '', 'release', 'ada')
  expect(await claim(store, 'report.build')).toHaveLength(1)
})
