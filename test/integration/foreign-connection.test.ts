import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { unzip } from '../../src-main/app/outside/bundle/unzip.fixture.ts'
import { runStatus } from '../../src-main/app/outside/status-command.ts'
import type { DatabaseEvent, TestStep, Tick } from '../../src-main/contract/index.ts'
import { StopStack, systemClock } from '../../src-main/kernel/index.ts'
import { makeAdvisedIndexes, profileText, shippedProfile, thesisTable } from '../support/foreign-table.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { startApp, type AppUnderTest } from './app-under-test.ts'

/*
 * A saved connection to a table that is not ours, with an account that may read that one table, from the app's point of view: everything that watches
 * works, nothing that lists or changes does, and the server saw reading statements alone.
 */

const ends = new StopStack()
const folder = mkdtempSync(join(tmpdir(), 'taskdeck-foreign-'))
const logFile = join(folder, 'general.log')
let server: TestMariaDb
/** May do all, and is not the app's. */
let owner: Connection
let watching: AppUnderTest
let connectionId: string

const connect = (): Promise<Connection> =>
  mysql.createConnection({ uri: server.url('shop'), multipleStatements: true, timezone: 'Z', dateStrings: true })

beforeAll(async () => {
  ends.add(() => rmSync(folder, { recursive: true }))
  const logging = ['--general-log=1', `--general-log-file=${logFile}`]
  server = await startPrivateMariaDb({ inMemory: true, serverOptions: logging })
  ends.add(() => server.stop())
  await server.createDatabase('shop')
  owner = await connect()
  ends.add(() => owner.end())
  await owner.query(`SET SESSION time_zone = '+00:00'; ${thesisTable}`)
  await fill()
  await makeAdvisedIndexes(server.url('shop'), shippedProfile('thesis-run-task'), (sql) => owner.query(sql))
  await owner.query(`CREATE USER 'reader'@'127.0.0.1' IDENTIFIED BY 'pw'`)
  await owner.query(`GRANT SELECT ON shop.thesis_run_task TO 'reader'@'127.0.0.1'`)
  watching = await startApp({ metricsPort: 0 })
  ends.add(() => watching.app.stop())
  const saved = await watching.client.connections.save(draft())
  connectionId = saved.id
  expect(saved).toMatchObject({
    accessMode: 'read-only',
    link: { status: 'live' },
    profile: { table: 'thesis_run_task' }
  })
})
afterAll(() => ends.stop())

const draft = () => ({
  ...({ name: 'Theses', environment: 'production', accessMode: 'read-only', password: 'pw' } as const),
  mysql: { host: server.host, port: server.port, user: 'reader', database: 'shop' },
  profile: profileText('thesis-run-task')
})

/** 4,000 tasks of every status and four types, 3,600 of them long ago; the other 400 were made and ended some minutes ago. */
async function fill(): Promise<void> {
  const digits =
    '(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)'
  await owner.query(
    `INSERT INTO thesis_run_task (task_type, status, enabled, next_retry_at, created_at, finished_at)
     SELECT CONCAT('type-', n % 4), ELT(1 + (n DIV 4) % 7, 'SUCCESS', 'FAILED', 'CANCELLED', 'RUNNING', 'PAUSED', 'PENDING', 'RETRYING'), n % 3 > 0,
       UTC_TIMESTAMP() + INTERVAL 1 DAY, UTC_TIMESTAMP() - INTERVAL IF(n % 10 = 0, 20, 40000) SECOND + INTERVAL IF((n DIV 4) % 7 = 5, 2, 0) DAY,
       IF((n DIV 4) % 7 < 3, UTC_TIMESTAMP() - INTERVAL IF(n % 10 = 0, 15, 40000) SECOND, NULL)
     FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n FROM ${digits} AS a, ${digits} AS b, ${digits} AS c, ${digits} AS e) AS numbers WHERE n < 4000`
  )
}

async function rowsOf(sql: string): Promise<RowDataPacket[]> {
  const [rows] = await owner.query<RowDataPacket[]>(sql)
  return rows
}

const isMine = ({ connectionId: id }: Tick): boolean => id === connectionId
const nextTick = async (fits: (tick: Tick) => boolean = () => true): Promise<Tick> =>
  (await watching.event('tick', ({ tick }) => isMine(tick) && fits(tick))).tick

/** Statements of the account `reader`, without what is about its session alone. */
function statementsOfReader(): string[] {
  const readers = new Set<string>()
  const statements: string[] = []
  let open = false
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    const [, id = '', command = '', argument = ''] =
      /^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *(\d+) (\w[\w ]*?)\t(.*)$/.exec(line) ?? []
    if (id === '') {
      // The rest of a statement of several lines.
      if (open) statements.push(`${statements.pop() ?? ''} ${line.trim()}`)
      continue
    }
    if (command === 'Connect') {
      if (argument.startsWith('reader@')) readers.add(id)
      else readers.delete(id)
    }
    open = readers.has(id) && ['Query', 'Prepare', 'Execute'].includes(command)
    if (open) statements.push(argument.trim())
  }
  return statements
}

describe('a connection to a table that is not ours', () => {
  it('has ticks with the figures of a full count', async () => {
    const { reading, points } = await nextTick()
    const counted = await rowsOf(
      `SELECT CASE WHEN status IN ('PENDING', 'RETRYING') AND NOT enabled THEN 'PAUSED' WHEN status = 'PENDING' THEN 'QUEUED'
         WHEN status = 'RETRYING' THEN 'RETRY_WAIT' ELSE status END AS state, task_type AS type, COUNT(*) AS n
       FROM thesis_run_task WHERE status NOT IN ('SUCCESS', 'FAILED', 'CANCELLED') GROUP BY 1, 2`
    )
    expect(counted).toHaveLength(16)
    const key = ({ state, type, n }: Record<string, unknown>): string => `${String(state)} ${String(type)} ${String(n)}`
    expect(reading.depth.map(({ state, type, count }) => key({ state, type, n: count })).sort()).toEqual(
      counted.map(key).sort()
    )
    expect(reading.limits.filter(({ reason }) => reason !== 'schema')).toEqual([])
    const all = counted.reduce((sum, { n }) => sum + Number(n), 0)
    expect(points).toContainEqual({ metric: 'depth', type: '', value: all })
    const [flow] = await rowsOf(
      "SELECT COUNT(*) AS n, SUM(status = 'FAILED') AS failed FROM thesis_run_task WHERE finished_at > UTC_TIMESTAMP() - INTERVAL 1 HOUR"
    )
    expect(Number(flow?.['n'])).toBeGreaterThan(100)
    expect(points).toContainEqual({ metric: 'ended5m', type: '', value: Number(flow?.['n']) })
    expect(points).toContainEqual({
      ...{ metric: 'failureRate', type: '' },
      value: Number(flow?.['failed']) / Number(flow?.['n'])
    })
    // What the table does not say is no point, and no zero.
    expect(points.filter(({ metric }) => /^(duration|pickup|workers|retryRate|schedules)/.test(metric))).toEqual([])
    const history = await watching.client.overview.snapshot({ connectionId, rangeMs: 3_600_000 })
    const depth = history.series.find(({ metric, type }) => metric === 'depth' && type === '')
    expect(depth?.values.at(-1)).toBe(all)
  })

  it('is told to have nothing to list or change, and why', async () => {
    const { client } = watching
    const refused = { data: { code: 'FOREIGN_TABLE', kind: 'user' } }
    await expect(client.tasks.list({ connectionId, filter: {} })).rejects.toMatchObject(refused)
    await expect(client.tasks.submit({ connectionId, task: { type: 'a', payload: '{}' } })).rejects.toMatchObject(
      refused
    )
    await expect(client.localWorker.start({ connectionId, slots: 1 })).rejects.toMatchObject(refused)
    await expect(client.connections.schemaPlan({ connectionId })).rejects.toMatchObject(refused)
    const write = { connectionId, accessMode: 'read-write', confirmation: 'Theses' } as const
    await expect(client.connections.setAccessMode(write)).rejects.toMatchObject(refused)
  })

  it('fires a default alert for a task that waits, and ends it when that is done', async () => {
    const { client, event } = watching
    const rules = (await client.alerts.get({ connectionId })).rules
    const found = rules.find(({ rule }) => rule.id === 'default-oldestMs')
    if (!found) throw new Error('no such rule')
    // Its threshold is the default one; only the time that it waits is left out.
    const quick = { ...found.rule, forMs: 0, clearForMs: 0 }
    await client.alerts.saveRule({ connectionId, ruleId: quick.id, rule: quick })
    await owner.query(
      "INSERT INTO thesis_run_task (id, task_type, status, created_at) VALUES (900001, 'type-1', 'PENDING', UTC_TIMESTAMP() - INTERVAL 10 MINUTE)"
    )
    const isFiring = ({ alerts }: { alerts: Awaited<ReturnType<typeof client.alerts.get>> }): boolean =>
      alerts.connectionId === connectionId &&
      alerts.open.some(({ firings }) => firings.some(({ signal }) => signal === 'oldestMs'))
    const { alerts } = await event('alerts', isFiring)
    const [firing] = alerts.open.flatMap(({ firings }) => firings)
    expect(firing?.value).toBeGreaterThanOrEqual(600_000)
    expect((await nextTick()).reading.oldest).toMatchObject([{ type: 'type-1', taskId: '900001' }])
    await owner.query("UPDATE thesis_run_task SET status = 'CANCELLED', finished_at = NULL WHERE id = 900001")
    await event('alerts', (one) => one.alerts.connectionId === connectionId && !isFiring(one))
    const incidents = await client.alerts.incidents({ connectionId, from: 0, to: Date.now() + 60_000 })
    expect(incidents).toMatchObject([{ resolvedAt: expect.any(Number) as number }])
  })

  it('is in the metrics, in the status beside the app, and in a bundle', async () => {
    const tick = await nextTick()
    const metrics = await (await fetch(watching.app.metricsUrl ?? '')).text()
    const running = tick.reading.depth.find(({ state, type }) => state === 'RUNNING' && type === 'type-0')?.count
    expect(metrics.split('\n')).toContain(
      `taskdeck_queue_tasks{connection="Theses",type="type-0",state="RUNNING",accuracy="exact"} ${running}`
    )
    expect(metrics).not.toMatch(/workers_alive\{connection="Theses"/)

    const beside = await statusOf({})
    expect(beside).toMatchObject({ source: 'app', connection: { name: 'Theses' }, judgedBy: 'rules' })

    const to = Date.now() + 60_000
    const bundle = await watching.client.outside.bundle({ connectionId, from: to - 3_600_000, to })
    const files = unzip(new Uint8Array(await bundle.arrayBuffer()))
    const data = JSON.parse(files.get('data.json')?.toString() ?? '') as object
    expect(data).toMatchObject({
      versions: { schema: null },
      database: { kind: 'mysql', plans: [], tables: { status: 'known', value: [{ name: 'thesis_run_task' }] } }
    })
    expect(files.get('report.md')?.toString()).toContain('Nothing of Taskdeck claims from this table.')
  })

  it('shows what the account may see of the database, and no plans of ours', async () => {
    const leaver = new AbortController()
    const events = await watching.client.database.watch({ connectionId }, { signal: leaver.signal })
    const { value } = await events.next()
    leaver.abort()
    const event = value as DatabaseEvent
    if (event.status !== 'seen') throw new Error('no look')
    expect(event.health).toMatchObject({
      plans: [],
      tables: { status: 'known', value: [{ name: 'thesis_run_task', indexBytes: expect.any(Number) as number }] },
      waits: { status: 'unknown', gap: { reason: 'rights' } }
    })
  })

  it('is tested step by step: rights on the table are enough, and columns that do not fit are named', async () => {
    const results = async (change: object): Promise<Map<string, TestStep>> => {
      const steps = new Map<string, TestStep>()
      for await (const step of await watching.client.connections.test({ ...draft(), ...change }))
        steps.set(step.step, step)
      return steps
    }
    const fine = await results({})
    expect([...fine.values()].map(({ step, status }) => `${step} ${status}`)).toEqual([
      'tcp ok',
      'tls skipped',
      'login ok',
      'database ok',
      'rights ok',
      'schema ok'
    ])
    expect(fine.get('schema')?.notes).toEqual([{ code: 'profileFits', values: { table: 'thesis_run_task' } }])
    const profile = JSON.stringify({ ...shippedProfile('thesis-run-task'), id: 'task_id' })
    expect((await results({ profile })).get('schema')).toMatchObject({
      status: 'failed',
      problem: {
        code: 'INVALID_INPUT',
        details: { field: 'profile' },
        message: expect.stringContaining('"task_id"') as string
      }
    })
    const elsewhere = JSON.stringify({ ...shippedProfile('thesis-run-task'), table: 'orders' })
    expect((await results({ profile: elsewhere })).get('rights')).toMatchObject({
      status: 'failed',
      problem: { code: 'NO_RIGHTS', details: { table: 'orders' } }
    })
    const { user, password, host, port } = server
    const asOwner = await results({ password, mysql: { host, port, user, database: 'shop' } })
    expect(asOwner.get('rights')).toMatchObject({ status: 'warning', notes: [{ code: 'rightsExcess' }] })
  })

  it('shows a profile that does not fit as what is in the way', async () => {
    const profile = JSON.stringify({ ...shippedProfile('thesis-run-task'), id: 'task_id' })
    const saved = await watching.client.connections.save({ ...draft(), name: 'Misfit', profile })
    onTestFinished(() => watching.client.connections.remove({ connectionId: saved.id }))
    expect(saved.link).toMatchObject({
      status: 'lost',
      problem: {
        code: 'INVALID_INPUT',
        details: { field: 'profile' },
        message: expect.stringContaining('"task_id"') as string
      }
    })
  })

  it('is found again after the server was away', async () => {
    const before = await nextTick()
    await server.kill9()
    const away = await watching.link(connectionId, ({ link }) => link.status === 'lost')
    expect(away.link).toMatchObject({ problem: { kind: 'operational' } })
    await server.restart()
    await watching.client.connections.retryNow({ connectionId })
    const after = await nextTick(({ seq }) => seq > before.seq)
    expect(after.reading.depth).toEqual(before.reading.depth)
    owner.destroy()
    owner = await connect()
  })

  it('takes one session, leaves nothing running, and only ever reads', async () => {
    await nextTick()
    const sessions = (more = ''): Promise<RowDataPacket[]> =>
      rowsOf(`SELECT ID, COMMAND, INFO FROM information_schema.PROCESSLIST WHERE USER = 'reader' ${more}`)
    await expect.poll(() => sessions()).toHaveLength(1)
    await expect.poll(() => sessions("AND COMMAND <> 'Sleep'")).toEqual([])
    await watching.app.stop()
    await expect.poll(() => sessions()).toEqual([])

    const alone = await statusOf({ TASKDECK_PASSWORD: 'pw' })
    expect(alone).toMatchObject({ source: 'database', connection: { name: 'Theses' }, judgedBy: 'defaults' })
    await expect.poll(() => sessions()).toEqual([])

    // Each with the label of its figure left out.
    const statements = statementsOfReader().map((sql) => sql.replace(/^\/\* \w+ \*\/ \(?/, ''))
    expect(statements.length).toBeGreaterThan(100)
    const reads = /^(SELECT|EXPLAIN|SHOW|SET SESSION|SET STATEMENT)\b/i
    expect(statements.filter((sql) => !reads.test(sql))).toEqual([])
    const onTable = statements.filter((sql) => sql.includes('thesis_run_task`'))
    expect(onTable.filter((sql) => /FOR UPDATE|LOCK IN|INTO /i.test(sql))).toEqual([])
    // By the guard alone: planned first, and with a limit of rows.
    const texts = [...new Set(onTable.filter((sql) => sql.includes('?')))]
    const planned = texts.filter((sql) => sql.startsWith('EXPLAIN ')).map((sql) => sql.replace(/^EXPLAIN /, ''))
    const read = texts.filter((sql) => !sql.startsWith('EXPLAIN '))
    expect(read.length).toBeGreaterThan(8)
    expect(read.filter((sql) => !planned.some((text) => text.includes(sql)) || !/ LIMIT (\d+|\?)/.test(sql))).toEqual(
      []
    )
    // Ours are not looked for in a database that is not ours.
    expect(statements.filter((sql) => /taskdeck_(task|schema|migration)/.test(sql))).toEqual([])
  })
})

async function statusOf(env: NodeJS.ProcessEnv): Promise<unknown> {
  const { stdout } = await runStatus({
    ...{ args: ['--data', watching.dataDir, '--connection', 'Theses', '--json'], env, cwd: folder },
    ...{ platform: process.platform, clock: systemClock, version: '0.0.0-test' },
    places: { clock: systemClock, migrationsDir: join(import.meta.dirname, '../../migrations') }
  })
  return JSON.parse(stdout)
}
