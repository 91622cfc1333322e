import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { AppError, newTask, systemClock, type TaskDetail, type TaskState } from '../../src-main/kernel/index.ts'
import { createWorker, type WorkerOptions } from '../../src-main/queue/pool/index.ts'
import { openMysqlRowSink } from '../../src-main/queue/store-mysql/index.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { openTestQueue, type TestQueue } from '../support/open-queue.ts'
import { temporaryDir } from './pool-support/start-worker.ts'

/* The handlers of `resources/handlers` with real threads and a real database; what each comment there promises. */

const examples = join(import.meta.dirname, '../../resources/handlers')

async function openQueue() {
  const database = await createTestDatabase(inject('mariadbUrl'), 'examples')
  onTestFinished(() => database.drop())
  const queue = await openTestQueue(database.url)
  onTestFinished(() => queue.close())
  return { ...queue, url: database.url }
}

async function work({ store, sql }: TestQueue, changes: Partial<WorkerOptions> = {}) {
  const worker = createWorker({
    store,
    clock: systemClock,
    workerId: `worker-${Math.random()}`,
    version: '0.0.0',
    slots: 2,
    pollMs: 20,
    recoverMs: 200,
    graceMs: 1_000,
    handlers: { builtIn: false, dir: examples },
    artifactDir: join(temporaryDir(), 'artifacts'),
    rowSink: openMysqlRowSink({ database: sql }),
    ...changes
  })
  onTestFinished(() => worker.stop())
  await worker.start()
  return worker
}

const atOnce = { kind: 'list', delaysMs: [0] } as const

async function submit({ store }: TestQueue, type: string, payload: unknown): Promise<string> {
  const [result] = await store.submit([newTask.parse({ type, payload: JSON.stringify(payload), retryPolicy: atOnce })])
  return result?.taskId ?? ''
}

async function until({ store }: TestQueue, id: string, holds: (task: TaskDetail) => boolean): Promise<TaskDetail> {
  for (;;) {
    const task = await store.get(id)
    if (task && holds(task)) return task
    await pause(20)
  }
}

const untilState = (queue: TestQueue, id: string, state: TaskState): Promise<TaskDetail> =>
  until(queue, id, (task) => task.state === state)

const logOf = async ({ store }: TestQueue, id: string): Promise<string> =>
  (await store.log(id, null)).map(({ message }) => message).join('\n')

describe('book-payment', () => {
  const tables = [
    'CREATE TABLE account (id VARCHAR(40) PRIMARY KEY, balance_cents BIGINT NOT NULL)',
    `CREATE TABLE payment (idempotency_key CHAR(64) CHARACTER SET ascii PRIMARY KEY, account VARCHAR(40) NOT NULL,
       amount_cents BIGINT NOT NULL)`,
    `INSERT INTO account VALUES ('A-1', 0)`
  ]
  const balance = async ({ sql }: TestQueue): Promise<unknown> =>
    (await sql.execute('SELECT balance_cents FROM account')).rows[0]?.['balance_cents']

  async function openAccounts() {
    const queue = await openQueue()
    for (const table of tables) await queue.sql.execute(table)
    vi.stubEnv('PAYMENTS_DATABASE', queue.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    return queue
  }

  it('books once, though the first worker dies between booking and telling', async () => {
    const queue = await openAccounts()
    const id = await submit(queue, 'book-payment', { account: 'A-1', amountCents: 1_250 })
    // Cut off from the queue when it wants to settle: as good as dead.
    const silent = () => Promise.reject(new AppError('CONNECTION_LOST', 'operational', 'cut off'))
    const store = new Proxy(queue.store, {
      get: (target, name) => (name === 'settle' ? silent : (Reflect.get(target, name) as unknown))
    })
    const first = await work(queue, { store, leaseMs: 1_500, graceMs: 200 })
    while (String(await balance(queue)) !== '1250') await pause(20)
    await first.stop()
    await work(queue)
    const task = await untilState(queue, id, 'SUCCESS')
    expect(task.attempts.map(({ outcome }) => outcome)).toEqual(['LEASE_EXPIRED', 'SUCCESS'])
    expect(await logOf(queue, id)).toContain('was booked before attempt 2')
    expect(String(await balance(queue))).toBe('1250')
  })

  it('books nothing for an account that does not exist, and leaves no key behind', async () => {
    const queue = await openAccounts()
    const id = await submit(queue, 'book-payment', { account: 'nobody', amountCents: 1 })
    await work(queue)
    expect(await untilState(queue, id, 'FAILED')).toMatchObject({ errorCode: 'ACCOUNT_UNKNOWN', attemptsUsed: 1 })
    expect((await queue.sql.execute('SELECT * FROM payment')).rows).toEqual([])
  })
})

describe('call-webhook', () => {
  async function receive(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  }

  it('tries again what may pass, with one key, and stops when it is answered', async () => {
    const queue = await openQueue()
    const keys: unknown[] = []
    const statuses = [503, 429, 204]
    const url = await receive((request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.writeHead(statuses[keys.length - 1] ?? 500).end()
    })
    const id = await submit(queue, 'call-webhook', { url, event: 'order.paid', data: { order: 1 } })
    await work(queue)
    const task = await untilState(queue, id, 'SUCCESS')
    expect(task.attempts.map(({ error }) => error?.class)).toEqual(['retryable', 'resource', undefined])
    expect(task.result).toBe('{"status":204}')
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
  })

  it('gives up at once on what the receiver refuses', async () => {
    const queue = await openQueue()
    const url = await receive((_, response) => void response.writeHead(422).end())
    const id = await submit(queue, 'call-webhook', { url, event: 'order.paid' })
    await work(queue)
    expect(await untilState(queue, id, 'FAILED')).toMatchObject({ errorCode: 'WEBHOOK_REFUSED', attemptsUsed: 1 })
  })

  it('hangs up when it is cancelled', async () => {
    const queue = await openQueue()
    const hungUp = Promise.withResolvers<void>()
    const called = Promise.withResolvers<void>()
    const url = await receive((request) => {
      request.once('close', hungUp.resolve)
      called.resolve()
    })
    const id = await submit(queue, 'call-webhook', { url, event: 'order.paid', timeoutMs: 60_000 })
    await work(queue, { leaseMs: 1_500 })
    await called.promise
    await queue.store.act(id, 'cancel', 'ada')
    await hungUp.promise
    expect((await untilState(queue, id, 'CANCELLED')).attempts).toHaveLength(1)
  })
})

describe('import-readings', () => {
  const line = (n: number): string =>
    n % 100 === 0 ? '{"sensor":""}' : JSON.stringify({ sensor: 's', at: '2026-01-01T00:00:00Z', value: n })

  it('goes on where a stopped worker left it: every row once, and a report of the rest', async () => {
    const queue = await openQueue()
    const file = join(temporaryDir(), 'readings.jsonl')
    writeFileSync(file, Array.from({ length: 3_000 }, (_, index) => line(index + 1)).join('\n'))
    const id = await submit(queue, 'import-readings', { file, batchSize: 100 })
    const rowSink = openMysqlRowSink({ database: queue.sql })
    const third = Promise.withResolvers<void>()
    let batches = 0
    const first = await work(queue, {
      rowSink: {
        ...rowSink,
        insert: (key, rows) => {
          if (++batches < 3) return rowSink.insert(key, rows)
          third.resolve()
          return new Promise(() => undefined)
        }
      }
    })
    await third.promise
    await first.stop()
    await work(queue)
    const task = await untilState(queue, id, 'PARTIAL_SUCCESS')
    expect(task.attempts.map(({ outcome }) => outcome)).toEqual(['HANDED_BACK', 'PARTIAL_SUCCESS'])
    expect(JSON.parse(task.result ?? '')).toEqual({ imported: 2_970, refused: 30 })
    expect(await logOf(queue, id)).toContain('goes on after line 200')
    const { rows } = await queue.sql.execute('SELECT COUNT(*) AS n FROM taskdeck_import_row')
    expect(Number(rows[0]?.['n'])).toBe(2_970)
    const report = readFileSync(task.artifacts[0]?.path ?? '', 'utf8').split('\r\n')
    expect(report).toHaveLength(31)
    expect(report[1]).toBe('100,sensor is not usable')
  })

  it('fails for good when the file is not there', async () => {
    const queue = await openQueue()
    const id = await submit(queue, 'import-readings', { file: join(temporaryDir(), 'gone') })
    await work(queue)
    expect(await untilState(queue, id, 'FAILED')).toMatchObject({ errorCode: 'FILE_UNREADABLE' })
  })
})

it('the template is a handler as soon as it is copied', async () => {
  const queue = await openQueue()
  const dir = join(temporaryDir(), 'handlers')
  mkdirSync(dir)
  cpSync(join(examples, '_template.ts'), join(dir, 'my-task.ts'))
  const id = await submit(queue, 'my-task', { name: 'Ada' })
  await work(queue, { handlers: { builtIn: false, dir } })
  expect(await untilState(queue, id, 'SUCCESS')).toMatchObject({ result: '{"changed":"Ada"}' })
})
