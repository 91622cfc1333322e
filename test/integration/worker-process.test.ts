import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { makeImport } from '../../resources/demo/make-import.mjs'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { newTask, systemClock } from '../../src-main/kernel/index.ts'
import { ordersWorkbook } from '../../src-main/queue/pool/built-in/xlsx/orders.fixture.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { faultHandlers, temporaryDir } from './pool-support/start-worker.ts'
import { startWorkerProcess } from './pool-support/worker-process.ts'

async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase(inject('mariadbUrl'), 'worker_process')
  onTestFinished(() => database.drop())
  return database.url
}

async function openQueue(url: string) {
  const database = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-write',
    poolSize: 2,
    acquireTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 5_000,
    clock: systemClock
  })
  onTestFinished(() => database.close())
  return { store: await openMysqlStore({ database, clock: systemClock }), database }
}

describe('the import', () => {
  it.each([
    ['import-csv', 'orders.csv', makeImport()],
    ['import-xlsx', 'orders.xlsx', ordersWorkbook(makeImport())]
  ])(
    '%s ends with 9,800 rows and a report of 200, also when its worker is killed half-way',
    async (type, name, content) => {
      const url = await emptyDatabase()
      const dir = temporaryDir()
      const file = join(dir, name)
      writeFileSync(file, content)
      const args = ['--migrate', '--artifacts', join(dir, 'artifacts'), '--lease-ms', '1500', '--recover-ms', '300']
      const first = startWorkerProcess(url, ...args, '--poll-ms', '20')
      await first.untilSays(/started with 4 slots/)
      const { store, database } = await openQueue(url)
      const payload = JSON.stringify({ file, batchSize: 50 })
      const [submitted] = await store.submit([newTask.parse({ type, payload, idempotencyKey: 'orders' })])
      const id = submitted?.taskId ?? ''
      const read = async () => {
        const task = await store.get(id)
        if (!task) throw new Error('the task is gone')
        return task
      }
      // A checkpoint is the sign that the import is on its way.
      while (!/"row":[1-9]/.test((await read()).checkpoint ?? '')) continue
      first.child.kill('SIGKILL')
      await first.ended
      const halfWay = await read()
      expect(halfWay.state).toBe('RUNNING')

      const second = startWorkerProcess(url, ...args, '--poll-ms', '20')
      await second.untilSays(/recovered \(LEASE_EXPIRED\)/)
      let task = await read()
      // The default policy waits 5 s before the second attempt.
      while (task.state !== 'PARTIAL_SUCCESS') {
        expect(['RUNNING', 'RETRY_WAIT']).toContain(task.state)
        task = await read()
      }
      const result = { total: 10_000, imported: 9_800, rejected: 200, report: 'import-errors.csv' }
      expect(JSON.parse(task.result ?? '')).toEqual(result)
      expect(task.attempts.map(({ outcome }) => outcome)).toEqual(['LEASE_EXPIRED', 'PARTIAL_SUCCESS'])
      const { rows } = await database.execute('SELECT COUNT(*) AS count FROM taskdeck_import_row')
      expect(Number(rows[0]?.['count'])).toBe(9_800)
      const report = readFileSync(task.artifacts[0]?.path ?? '', 'utf8')
        .trimEnd()
        .split('\r\n')
      expect(report).toHaveLength(201)
      expect((await store.log(id, null)).map(({ message }) => message).join('\n')).toContain('resumes after row')
      second.child.kill('SIGTERM')
      expect(await second.ended).toBe(0)
    }
  )
})

describe('bad input', () => {
  const refuses = async (connection: string | undefined, message: RegExp, ...args: string[]): Promise<void> => {
    const worker = startWorkerProcess(connection, ...args)
    expect(await worker.ended).toBe(2)
    expect(worker.output()).toMatch(message)
    expect(worker.output().trimEnd().split('\n')).toHaveLength(1)
    expect(worker.output()).not.toContain('canary')
  }

  it('ends the process with one clear line and code 2', async () => {
    const url = await emptyDatabase()
    const wrongPassword = new URL(url)
    wrongPassword.password = 'canary-secret'
    const unknownDatabase = new URL(url)
    unknownDatabase.pathname = '/no_such_database'
    await Promise.all([
      refuses(undefined, /TASKDECK_CONNECTION/),
      refuses('sqlite:/tmp/x', /not a folder/, '--handlers', '/no/such/folder')
    ])
    await Promise.all([
      refuses(wrongPassword.href, /LOGIN_REFUSED/),
      refuses(unknownDatabase.href, /DATABASE_UNKNOWN|NO_RIGHTS/)
    ])
    await refuses(url, /SCHEMA_MISSING.*--migrate/)
  })

  it('is not a database that is away: the process waits for it, and a signal ends the waiting', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const worker = startWorkerProcess(`mysql://someone:canary-secret@127.0.0.1:${port}/queue`)
    await worker.untilSays(/waiting for the database: CONNECTION_REFUSED/)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(worker.output()).not.toContain('canary')
  })
})

it('stores and says log lines and errors without the values of the fields that it is told to hide', async () => {
  const url = await emptyDatabase()
  const args = ['--migrate', '--poll-ms', '20', '--artifacts', temporaryDir(), '--handlers', faultHandlers]
  const worker = startWorkerProcess(url, ...args, '--sensitive', 'salary,家庭住址')
  await worker.untilSays(/task types/)
  const { store } = await openQueue(url)
  const payload = JSON.stringify({ text: 'wages=7, Base_Salary=12345, "家庭住址": "Harbour Road 1", password=p' })
  const [submitted] = await store.submit([newTask.parse({ type: 'tells', payload })])
  const id = submitted?.taskId ?? ''
  while ((await store.get(id))?.state !== 'FAILED') continue
  const hidden = 'wages=7, Base_Salary=••••, "家庭住址": "••••", password=••••'
  expect(await store.get(id)).toMatchObject({ errorMessage: hidden, attempts: [{ error: { message: hidden } }] })
  expect((await store.log(id, null)).map(({ message }) => message)).toEqual([hidden])
  await worker.untilSays(/failed, TOLD: wages=7/)
  expect(worker.output()).not.toMatch(/12345|Harbour/)
})

it('hands back what it runs when it is told to stop (FAULTS 26)', async () => {
  const url = await emptyDatabase()
  const worker = startWorkerProcess(url, '--migrate', '--grace-ms', '1500', '--poll-ms', '20', '--json')
  const { hostname, port, pathname, username, password } = new URL(url)
  await worker.untilSays(/task types cpu, flaky, http-request, import-csv, import-xlsx, sleep/)
  expect(worker.output()).toContain(`queue ${pathname.slice(1)} on ${hostname}:${port} as ${username}`)
  if (password !== '') expect(worker.output()).not.toContain(password)
  const { store } = await openQueue(url)
  const [submitted] = await store.submit([newTask.parse({ type: 'sleep', payload: '{"ms":600000}' })])
  const id = submitted?.taskId ?? ''
  while ((await store.get(id))?.state !== 'RUNNING') continue
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
  expect(await store.get(id)).toMatchObject({
    state: 'QUEUED',
    attemptsUsed: 0,
    attempts: [{ outcome: 'HANDED_BACK' }]
  })
  const { workers } = await store.read()
  expect(workers).toMatchObject([{ status: 'stopped', running: 0 }])
  for (const line of worker.output().trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('message')
})
