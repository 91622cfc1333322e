import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openAudit } from '../../src-main/audit/index.ts'
import { StopStack, systemClock } from '../../src-main/kernel/index.ts'
import { createTestDatabase, startPrivateMariaDb, type TestDatabase } from '../support/mariadb.ts'
import { migrate, newDataDir, startApp, type AppUnderTest } from './app-under-test.ts'
import { faultHandlers } from './pool-support/start-worker.ts'

let ends: StopStack
beforeEach(() => {
  ends = new StopStack()
})
afterEach(() => ends.stop())

async function start(options: Parameters<typeof startApp>[0] = {}): Promise<AppUnderTest> {
  const started = await startApp(options)
  ends.add(() => started.app.stop())
  return started
}

const draftOf = (url: string) => {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    name: 'Test server',
    environment: 'development' as const,
    accessMode: 'read-write' as const,
    mysql: { host: hostname, port: Number(port), user: decodeURIComponent(username), database: pathname.slice(1) },
    password: decodeURIComponent(password)
  }
}

async function testDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase(inject('mariadbUrl'))
  ends.add(() => database.drop())
  return database
}

const sleepTask = { type: 'sleep', payload: '{"ms":1}' }

describe('the local queue', () => {
  it('is there at once, and a demo moves it', async () => {
    const { client, event } = await start({ demo: true })
    expect(await client.connections.list()).toMatchObject([{ id: 'local', kind: 'sqlite', link: { status: 'live' } }])
    await event('localWorker', ({ localWorker }) => localWorker.status === 'running' && localWorker.sample === 'steady')
    const { tick } = await event('tick', (found) => found.tick.reading.flow.some((flow) => flow.finished1m > 0))
    expect(tick.points.find(({ metric, type }) => metric === 'workersAlive' && type === '')?.value).toBe(1)
    await event('workerLog')
    const snapshot = await client.overview.snapshot({ connectionId: 'local', rangeMs: 900_000 })
    expect(snapshot.seq).toBeGreaterThanOrEqual(tick.seq)
    expect(
      snapshot.series.find(({ metric, type }) => metric === 'depth' && type === '')?.values.some((v) => v !== null)
    ).toBe(true)
  })

  it('imports the sample: 9,800 rows once, 200 reported in a file that can be downloaded', async () => {
    const { client } = await start()
    const { sampleImportFile } = await client.app.info()
    await client.localWorker.start({ connectionId: 'local', slots: 2, handlersDir: null })
    const payload = JSON.stringify({ file: sampleImportFile })
    const { firstId } = await client.tasks.submit({ connectionId: 'local', task: { type: 'import-csv', payload } })
    const get = () => client.tasks.get({ connectionId: 'local', taskId: firstId })
    await expect.poll(async () => (await get()).state, { timeout: 40_000 }).toBe('PARTIAL_SUCCESS')
    const task = await get()
    expect(JSON.parse(task.result ?? '')).toMatchObject({ total: 10_000, imported: 9_800, rejected: 200 })
    expect(task.downloadable).toEqual(task.artifacts.map(({ id }) => id))
    const file = await client.tasks.artifact({
      connectionId: 'local',
      taskId: firstId,
      artifactId: task.downloadable[0] ?? ''
    })
    expect((await file.text()).trim().split('\n').length).toBeGreaterThan(200)
    expect(file).toMatchObject({ name: 'import-errors.csv' })
  })

  it('carries an action out once however often it is asked for, and masks what the page sees', async () => {
    const { client } = await start()
    const payload = JSON.stringify({ ms: 5, password: 'hunter2', note: 'password=hunter2' })
    const { firstId } = await client.tasks.submit({ connectionId: 'local', task: { type: 'x', payload, held: true } })
    const request = { connectionId: 'local', taskId: firstId, action: 'release' as const, requestId: randomUUID() }
    const [one, two] = [await client.tasks.act(request), await client.tasks.act(request)]
    expect(two).toEqual(one)
    expect(one).toMatchObject({ from: 'CREATED', to: 'QUEUED' })
    await expect(client.tasks.act({ ...request, requestId: randomUUID() })).rejects.toMatchObject({
      data: { code: 'ILLEGAL_TRANSITION' }
    })
    const task = await client.tasks.get({ connectionId: 'local', taskId: firstId })
    expect(task.payload).not.toContain('hunter2')
    expect(task.maskedFields).toContain('password')
    expect(task.actions).toEqual(['cancel', 'pause'])
    expect(task).not.toHaveProperty('checkpoint')
  })

  it('hides at once what the settings name, in what is shown and in what its worker stores from then on', async () => {
    const { client } = await start()
    await client.localWorker.start({ connectionId: 'local', slots: 1, handlersDir: faultHandlers })
    const tell = async (): Promise<string> => {
      const payload = JSON.stringify({ text: 'salary=5', salary: 5 })
      const { firstId } = await client.tasks.submit({ connectionId: 'local', task: { type: 'tells', payload } })
      const state = async () => (await client.tasks.get({ connectionId: 'local', taskId: firstId })).state
      await expect.poll(state, { timeout: 20_000 }).toBe('FAILED')
      return firstId
    }
    const shown = async (taskId: string) => {
      const at = { connectionId: 'local', taskId }
      const [task, lines] = [await client.tasks.get(at), await client.tasks.log(at)]
      const { rows } = await client.tasks.list({ connectionId: 'local', filter: {}, limit: 50 })
      const row = rows.find(({ id }) => id === taskId)
      const { payload, errorMessage, attempts } = task
      return { payload, texts: [errorMessage, attempts[0]?.error?.message, lines[0]?.message, row?.errorMessage] }
    }
    const four = (text: string): string[] => [text, text, text, text]
    const open = { payload: '{"text":"salary=5","salary":5}', texts: four('salary=5') }
    const hidden = { payload: '{"text":"salary=••••","salary":"••••"}', texts: four('salary=••••') }
    const workerLog = async () => (await client.localWorker.log()).filter(({ message }) => message.includes('salary=5'))

    const before = await tell()
    expect(await shown(before)).toEqual(open)
    expect(await workerLog()).toHaveLength(1)
    const saved = await client.app.saveSettings({ sensitiveKeys: ['Salary'] })
    expect(saved).toEqual({ theme: 'system', language: 'system', sensitiveKeys: ['Salary'] })
    expect(await shown(before)).toEqual(hidden)
    expect(await workerLog()).toEqual([])
    const after = await tell()
    await client.app.saveSettings({ sensitiveKeys: [] })
    expect(await shown(before)).toEqual(open)
    expect(await shown(after)).toEqual({ ...hidden, payload: open.payload })
    await expect(client.app.saveSettings({ sensitiveKeys: ['-'] })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  it('answers bad input with what is wrong', async () => {
    const { client } = await start()
    const submit = (task: object, count = 1) =>
      client.tasks.submit({ connectionId: 'local', task: { ...sleepTask, ...task }, count })
    await expect(submit({ payload: '{' })).rejects.toMatchObject({ data: { code: 'INVALID_PAYLOAD', kind: 'user' } })
    await expect(submit({ idempotencyKey: 'k' }, 2)).rejects.toMatchObject({ data: { code: 'INVALID_INPUT' } })
    await submit({ idempotencyKey: 'k' })
    await expect(submit({ idempotencyKey: 'k', payload: '{"ms":2}' })).rejects.toMatchObject({
      data: { code: 'KEY_CONFLICT' }
    })
    await expect(submit({ payload: `"${'x'.repeat(70_000)}"` }, 1_000)).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' }
    })
    await expect(client.localWorker.startSample({ connectionId: 'local', kind: 'steady' })).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' }
    })
    await expect(
      client.localWorker.start({ connectionId: 'local', slots: 1, handlersDir: '/nowhere' })
    ).rejects.toMatchObject({ data: { code: 'FILE_UNAVAILABLE' } })
    expect(await client.localWorker.get()).toMatchObject({ status: 'stopped', problem: { code: 'FILE_UNAVAILABLE' } })
    await expect(client.connections.remove({ connectionId: 'local' })).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' }
    })
    expect((await submit({}, 1_200)).created).toBe(1_200)
  })

  it('survives a damaged history file and says so', async () => {
    const dataDir = newDataDir()
    const first = await startApp({ dataDir })
    await first.event('tick')
    await first.app.stop()
    writeFileSync(join(dataDir, 'history.sqlite'), 'not a database')
    const { client } = await start({ dataDir })
    expect((await client.app.info()).notices).toMatchObject([{ code: 'HISTORY_DAMAGED' }])
    expect((await client.connections.list())[0]?.link.status).toBe('live')
  })

  it('belongs to one app at a time, and is free again after it', async () => {
    const dataDir = newDataDir()
    const first = await startApp({ dataDir })
    await expect(startApp({ dataDir })).rejects.toThrow(/already running/)
    await first.app.stop()
    const second = await startApp({ dataDir })
    await second.app.stop()
  })
})

describe('a MySQL connection', () => {
  it('is tested, saved, given its tables after they were read, and worked on', async () => {
    const { client, link } = await start()
    const draft = draftOf((await testDatabase()).url)
    const steps = []
    for await (const { step, status } of await client.connections.test(draft))
      if (status !== 'running') steps.push(`${step} ${status}`)
    expect(steps.at(0)).toBe('tcp ok')
    expect(steps.at(-1)).toBe('schema warning')
    const { id: connectionId, link: before } = await client.connections.save(draft)
    expect(before).toMatchObject({ status: 'schema', schema: 'missing' })
    await expect(client.connections.migrate({ connectionId, planHash: '0'.repeat(64) })).rejects.toMatchObject({
      data: { code: 'INVALID_INPUT' }
    })
    expect(await migrate(client, connectionId)).toMatchObject({
      link: { status: 'live' },
      server: expect.stringMatching(/^(MariaDB|MySQL) \d/) as string
    })
    await client.localWorker.start({ connectionId, slots: 2, handlersDir: null })
    await client.tasks.submit({ connectionId, task: sleepTask, count: 50 })
    await expect
      .poll(async () => (await client.tasks.list({ connectionId, filter: { states: ['SUCCESS'] } })).rows.length, {
        timeout: 30_000
      })
      .toBe(50)

    await client.connections.setAccessMode({ connectionId, accessMode: 'read-only' })
    expect(await client.localWorker.get()).toMatchObject({ status: 'stopped', problem: { code: 'CONNECTION_LOST' } })
    await link(connectionId, (view) => view.link.status === 'live')
    await expect(client.tasks.submit({ connectionId, task: sleepTask })).rejects.toMatchObject({
      data: { code: 'READ_ONLY' }
    })
    await expect(client.localWorker.start({ connectionId, slots: 1, handlersDir: null })).rejects.toMatchObject({
      data: { code: 'READ_ONLY' }
    })
    const [task] = (await client.tasks.list({ connectionId, filter: {} })).rows
    expect(await client.tasks.get({ connectionId, taskId: task?.id ?? '' })).toMatchObject({
      actions: [],
      actionsBlocked: { code: 'READ_ONLY' }
    })
    await client.connections.remove({ connectionId })
    expect((await client.connections.list()).map(({ id }) => id)).toEqual(['local'])
  })

  it('that is production starts no worker without its name and no sample, and what was done is recorded', async () => {
    const { client, app, link, dataDir } = await start()
    const production = {
      ...draftOf((await testDatabase()).url),
      environment: 'production',
      accessMode: 'read-only'
    } as const
    const { id: connectionId } = await client.connections.save(production)
    const confirmation = production.name
    await client.connections.setAccessMode({ connectionId, accessMode: 'read-write', confirmation })
    await migrate(client, connectionId)
    await link(connectionId, (view) => view.link.status === 'live')
    const worker = { connectionId, slots: 1, handlersDir: null }
    const refused = { data: { code: 'INVALID_INPUT' } }
    await expect(client.localWorker.start(worker)).rejects.toMatchObject(refused)
    await client.localWorker.start({ ...worker, confirmation })
    await expect(client.localWorker.startSample({ connectionId, kind: 'spike' })).rejects.toMatchObject(refused)
    await expect(client.localWorker.startSample({ connectionId: 'local', kind: 'spike' })).rejects.toMatchObject({
      data: { code: 'WORKER_RUNNING' }
    })
    await client.localWorker.stop()
    await app.stop()
    const migrationsDir = join(import.meta.dirname, '../../migrations/cache')
    const { audit } = openAudit({ file: join(dataDir, 'audit.sqlite'), clock: systemClock, migrationsDir })
    ends.add(() => audit.close())
    const entries = await audit.list(10)
    const done = entries.map(({ action, outcome }) => [
      action,
      (JSON.parse(outcome ?? '{}') as { status: string }).status
    ])
    expect(done).toEqual([
      ['localWorker.startSample', 'failed'],
      ['localWorker.start', 'done'],
      ['connections.migrate', 'done'],
      ['connections.setAccessMode', 'done'],
      ['connections.save', 'done']
    ])
  })

  it('whose account may not make tables is warned of by the test, and the migration names the grant', async () => {
    const { client } = await start()
    const database = await testDatabase()
    const { hostname, port, pathname } = new URL(database.url)
    const user = `nocreate_${randomUUID().slice(0, 8)}`
    const admin = await mysql.createConnection(database.url)
    ends.add(async () => {
      await admin.query(`DROP USER '${user}'@'%'`)
      await admin.end()
    })
    await admin.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'pw'`)
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON \`${pathname.slice(1)}\`.* TO '${user}'@'%'`)
    const draft = draftOf(`mysql://${user}:pw@${hostname}:${port}${pathname}`)
    const rights = []
    for await (const { step, status, notes } of await client.connections.test(draft))
      if (step === 'rights' && status !== 'running') rights.push(status, ...notes)
    expect(rights).toEqual(['warning', { code: 'rightsForTables', values: { rights: 'CREATE' } }])
    const { id } = await client.connections.save(draft)
    await expect(migrate(client, id)).rejects.toMatchObject({
      data: {
        code: 'NO_RIGHTS',
        message: expect.stringContaining('lacks CREATE') as string,
        details: { grant: expect.stringMatching(/^GRANT CREATE ON `.*`\.\* TO 'nocreate_/) as string }
      }
    })
  })

  it('to production is written to only after its name was typed', async () => {
    const { client } = await start()
    const draft = { ...draftOf((await testDatabase()).url), environment: 'production' as const, name: 'Shop' }
    await expect(client.connections.save(draft)).rejects.toMatchObject({ data: { code: 'INVALID_INPUT' } })
    const { id: connectionId } = await client.connections.save({ ...draft, accessMode: 'read-only' })
    const write = (confirmation: string) =>
      client.connections.setAccessMode({ connectionId, accessMode: 'read-write', confirmation })
    await expect(write('shop')).rejects.toMatchObject({ data: { code: 'INVALID_INPUT' } })
    expect((await write('Shop')).accessMode).toBe('read-write')
  })

  it('asks for its password after a restart where there is no vault', async () => {
    const database = await testDatabase()
    const dataDir = newDataDir()
    const first = await startApp({ dataDir })
    const draft = draftOf(database.url)
    const { id: connectionId } = await first.client.connections.save(draft)
    await first.app.stop()
    expect(readFileSync(join(dataDir, 'connections.json'), 'utf8')).not.toContain(draft.password)
    const { client, link } = await start({ dataDir })
    const locked = await link(connectionId, (view) => view.link.status !== 'connecting')
    expect(locked).toMatchObject({ password: 'missing', link: { status: 'locked' } })
    await expect(client.tasks.list({ connectionId, filter: {} })).rejects.toMatchObject({
      data: { code: 'LOGIN_REFUSED' }
    })
    expect(await client.connections.unlock({ connectionId, password: draft.password })).toMatchObject({
      password: 'session',
      link: { status: 'schema' }
    })
  })

  it('is not saved with a character that cannot be seen, and the field is named', async () => {
    const { client } = await start()
    const draft = draftOf((await testDatabase()).url)
    const bad = { ...draft, mysql: { ...draft.mysql, host: '127.0.0.1\0.example' } }
    const refused = { data: { code: 'INVALID_INPUT', details: { field: 'host' } } }
    await expect(client.connections.save(bad)).rejects.toMatchObject(refused)
    const test = async (): Promise<void> => {
      for await (const step of await client.connections.test(bad)) expect(step).toBeUndefined()
    }
    await expect(test()).rejects.toMatchObject(refused)
    expect(await client.connections.list()).toHaveLength(1)
  })

  it('forgets a password that the server refuses, and asks for another one, saying why', async () => {
    const database = await testDatabase()
    const { client } = await start()
    const draft = draftOf(database.url)
    const saved = await client.connections.save({ ...draft, password: 'not the password' })
    const connectionId = saved.id
    const asks = { password: 'missing', link: { status: 'locked', problem: { code: 'LOGIN_REFUSED' } } }
    expect(saved).toMatchObject(asks)
    // Looking again does not forget why, and does not ask the server: there is nothing to log in with.
    await client.connections.retryNow({ connectionId })
    expect((await client.connections.list()).find(({ id }) => id === connectionId)).toMatchObject(asks)
    expect(await client.connections.unlock({ connectionId, password: 'nor this' })).toMatchObject(asks)
    expect(await client.connections.unlock({ connectionId, password: draft.password })).toMatchObject({
      password: 'session',
      link: { status: 'schema' }
    })
  })

  it('that cannot work says why: closed port, wrong password, unknown database, a newer schema', async () => {
    const { client } = await start()
    const database = await testDatabase()
    const draft = draftOf(database.url)
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const linkOf = async (change: object, password = draft.password) =>
      (await client.connections.save({ ...draft, password, mysql: { ...draft.mysql, ...change } })).link
    expect(await linkOf({ port })).toMatchObject({
      status: 'lost',
      since: null,
      problem: { code: 'CONNECTION_REFUSED' }
    })
    expect(await linkOf({}, 'wrong')).toMatchObject({ status: 'locked', problem: { code: 'LOGIN_REFUSED' } })
    expect(await linkOf({ database: 'nowhere' })).toMatchObject({
      status: 'lost',
      problem: { code: 'DATABASE_UNKNOWN' }
    })

    const { id: connectionId } = await client.connections.save(draft)
    await migrate(client, connectionId)
    const admin = await mysql.createConnection(database.url)
    const [rows] = await admin.query(
      "SELECT TABLE_NAME AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '%migration%'"
    )
    const journal = (rows as { name: string }[])[0]?.name ?? ''
    await admin.query(`CREATE TEMPORARY TABLE newest SELECT * FROM \`${journal}\` ORDER BY 1 DESC LIMIT 1`)
    await admin.query('UPDATE newest SET version = 9999')
    await admin.query(`INSERT INTO \`${journal}\` SELECT * FROM newest`)
    await admin.end()
    expect(await linkOf({})).toMatchObject({ status: 'schema', schema: 'newer', version: 9999 })
  })

  it('goes on by itself after its server was killed and came back, with the last picture in between', async () => {
    const server = await startPrivateMariaDb({ inMemory: true })
    ends.add(() => server.stop())
    await server.createDatabase('app_lost')
    const draft = draftOf(server.url('app_lost'))
    const dataDir = newDataDir()
    const first = await startApp({ dataDir })
    const { client, link } = first
    const { id: connectionId } = await client.connections.save(draft)
    await migrate(client, connectionId)
    await client.localWorker.start({ connectionId, slots: 2, handlersDir: null })
    await first.event('tick', ({ tick }) => tick.connectionId === connectionId)

    await server.kill9()
    const lost = await link(connectionId, (view) => view.link.status === 'lost')
    expect(lost.link).toMatchObject({ since: expect.any(Number) as number, problem: { kind: 'operational' } })
    expect((await client.overview.snapshot({ connectionId, rangeMs: 900_000 })).reading).not.toBeNull()
    await expect(client.tasks.list({ connectionId, filter: {} })).rejects.toMatchObject({ code: 'PROBLEM' })

    await server.restart()
    await link(connectionId, (view) => view.link.status === 'live')
    await client.tasks.submit({ connectionId, task: sleepTask, count: 10 })
    await expect
      .poll(async () => (await client.tasks.list({ connectionId, filter: { states: ['SUCCESS'] } })).rows.length, {
        timeout: 40_000
      })
      .toBe(10)
    await first.app.stop()

    await server.kill9()
    const second = await start({ dataDir })
    const snapshot = await second.client.overview.snapshot({ connectionId, rangeMs: 3_600_000 })
    // The last look may have come after the worker had stopped: what it saw then is the last picture too.
    expect(snapshot).toMatchObject({ seq: 0, reading: { at: expect.any(Number) as number } })
    expect(
      snapshot.series.some(({ metric, values }) => metric === 'depth' && values.some((value) => value !== null))
    ).toBe(true)
    await second.client.connections.unlock({ connectionId, password: draft.password })
    const away = await second.link(connectionId, ({ link }) => link.status === 'lost' && link.since !== null)
    expect(away.link).toMatchObject({ since: snapshot.reading?.at })
  })
})
