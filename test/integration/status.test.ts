import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import mysql from 'mysql2/promise'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { ConnectionStore } from '../../src-main/connections/index.ts'
import { newTask, systemClock } from '../../src-main/kernel/index.ts'
import { openSqliteStore } from '../../src-main/queue/store-sqlite/index.ts'
import { statusReport, type StatusReport } from '../../src-main/app/outside/status-report.ts'
import { tenThousand } from '../bench/numbers.ts'
import { thesisTable } from '../support/foreign-table.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { newDataDir, startApp } from './app-under-test.ts'
import { TcpLink } from './connections-link.ts'

const root = join(import.meta.dirname, '../..')

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command as a process of its own, from its sources. */
function status(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'src-main/app/status-process.ts'), ...args], {
      env: { ...process.env, TASKDECK_PASSWORD: undefined, TASKDECK_CONNECTION: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 50_000,
      killSignal: 'SIGKILL'
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (data: Buffer) => (said.stdout += data.toString()))
    child.stderr.on('data', (data: Buffer) => (said.stderr += data.toString()))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...said }))
  })
}

const reportOf = ({ stdout }: Ended): StatusReport => statusReport.parse(JSON.parse(stdout))

const fires = { above: 1_000, clearAt: 0, forMs: 0, clearForMs: 0, repeatMs: null, enabled: true } as const

async function running() {
  const { app, client, dataDir, event } = await startApp()
  onTestFinished(() => app.stop())
  await event('tick', ({ tick }) => tick.connectionId === 'local')
  return { app, client, dataDir, event }
}

describe('taskdeck status beside a running app', () => {
  it('says what the app sees, and ends with 0 while all is well', async () => {
    const { dataDir } = await running()
    const asJson = await status(['--data', dataDir, '--connection', 'Local queue', '--json'])
    expect(asJson).toMatchObject({ code: 0, stderr: '' })
    expect(reportOf(asJson)).toMatchObject({
      source: 'app',
      taskdeck: '0.0.0-test',
      verdict: 'well',
      judgedBy: 'rules',
      figures: { depth: 0, oldestMs: 0, workersAlive: 0 }
    })
    const asText = await status(['--data', dataDir])
    expect(asText.code).toBe(0)
    expect(asText.stdout).toMatch(/^Local queue \(local, SQLite\): all well\n/)
  })

  it('ends with 1 while an alert fires, and names it', async () => {
    const { client, dataDir, event } = await running()
    await client.alerts.saveRule({
      connectionId: 'local',
      ruleId: null,
      rule: { signal: 'oldestMs', type: '', ...fires }
    })
    await client.tasks.submit({ connectionId: 'local', task: { type: 'nobody', payload: '{}' } })
    await event('alerts', ({ alerts }) => alerts.open.length > 0)
    const ended = await status(['--data', dataDir, '--json'])
    expect(ended.code).toBe(1)
    expect(reportOf(ended)).toMatchObject({ verdict: 'trouble', troubles: [{ signal: 'oldestMs', above: 1_000 }] })
    const { stdout } = await status(['--data', dataDir])
    expect(stdout).toContain('something is wrong')
    expect(stdout).toMatch(/oldest waiting .*, threshold 1 s since /)
  })

  it('ends with 2 for a connection that is not there, or that the app cannot reach', async () => {
    const { client, dataDir } = await running()
    await client.connections.save({
      ...{ name: 'Away', environment: 'staging', accessMode: 'read-only', password: 'cnry7f3a9c11d2' },
      mysql: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' }
    })
    const [unknown, several, away] = await Promise.all([
      status(['--data', dataDir, '--connection', 'Orders']),
      status(['--data', dataDir]),
      status(['--data', dataDir, '--connection', 'Away', '--json'])
    ])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(unknown.stderr).toContain('There is no connection "Orders". There are: "Local queue", "Away".')
    expect(unknown.stderr).toContain(`This is the data folder ${dataDir}; --data DIR names another.`)
    expect(several.code).toBe(2)
    expect(several.stderr).toContain('Give --connection NAME, one of "Local queue", "Away".')
    expect(away.code).toBe(2)
    expect(reportOf(away)).toMatchObject({ source: 'app', verdict: 'unknown', depth: [], readingAt: null })
    expect(away.stdout).toContain('CONNECTION_REFUSED')
    expect(away.stdout).not.toContain('cnry7f3a9c11d2')
  })
})

describe('taskdeck status without an app', () => {
  /** A data folder as an app left it, with a task that has waited for ten minutes. */
  async function leftBehind(): Promise<string> {
    const { app, dataDir } = await startApp()
    await app.stop()
    const migrationsDir = join(root, 'migrations/sqlite')
    const store = await openSqliteStore({ file: join(dataDir, 'queue.sqlite'), clock: systemClock, migrationsDir })
    await store.submit([newTask.parse({ type: 'mail', payload: '{}', runAt: Date.now() - 600_000 })])
    await store.close()
    return dataDir
  }

  it('reads the queue by itself, changes nothing, and ends with 1 for what is over a default threshold', async () => {
    const dataDir = await leftBehind()
    const file = join(dataDir, 'queue.sqlite')
    const before = readFileSync(file)
    const ended = await status(['--data', dataDir, '--json'])
    expect(ended).toMatchObject({ code: 1, stderr: '' })
    expect(reportOf(ended)).toMatchObject({
      source: 'database',
      judgedBy: 'defaults',
      troubles: [{ signal: 'oldestMs', above: 300_000 }],
      depth: [{ state: 'QUEUED', count: 1, accuracy: 'exact' }]
    })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(await status(['--url', `sqlite:${file}`])).toMatchObject({ code: 1 })
  })

  it.each([
    ['a folder without a queue', [], /is not there/],
    ['an address that is none', ['--url', 'postgres://u:cnry7f3a9c11d2@h/d'], /must start with mysql/]
  ])('ends with 2 for %s', async (_what, args, reason) => {
    const dataDir = newDataDir()
    mkdirSync(dataDir, { recursive: true })
    const ended = await status(['--data', dataDir, ...args])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(reason)
    expect(ended.stderr).not.toContain('cnry7f3a9c11d2')
  })

  it('leaves a damaged list of connections as it is, and says so as JSON', async () => {
    const dataDir = await leftBehind()
    const file = join(dataDir, 'connections.json')
    writeFileSync(file, '{"version":1,"connec')
    const ended = await status(['--data', dataDir, '--json'])
    expect(ended.code).toBe(2)
    expect(JSON.parse(ended.stdout)).toMatchObject({ verdict: 'unknown', error: { code: 'FILE_UNAVAILABLE' } })
    expect(readFileSync(file, 'utf8')).toBe('{"version":1,"connec')
  })
})

describe('taskdeck status of a queue on a server', () => {
  async function stored(url: URL, port = Number(url.port)): Promise<string> {
    const dataDir = newDataDir()
    mkdirSync(dataDir, { recursive: true })
    const store = await ConnectionStore.open(dataDir, systemClock)
    await store.save({
      ...{ id: 'orders', name: 'Orders', environment: 'production', accessMode: 'read-only', profile: null },
      mysql: {
        ...{ host: '127.0.0.1', port, tls: 'disabled', ca: '', database: url.pathname.slice(1) },
        user: decodeURIComponent(url.username)
      }
    })
    return dataDir
  }
  const passwordOf = (url: URL): NodeJS.ProcessEnv => ({ TASKDECK_PASSWORD: decodeURIComponent(url.password) })

  it('needs the password, then reads without writing', async () => {
    const database = await createTestDatabase(inject('mariadbUrl'), 'status')
    onTestFinished(() => database.drop())
    const url = new URL(database.url)
    const dataDir = await stored(url)
    const args = ['--data', dataDir, '--connection', 'Orders', '--json']
    const locked = await status(args)
    expect(locked.code).toBe(2)
    expect(locked.stderr).toContain('set TASKDECK_PASSWORD')

    const missing = await status(args, passwordOf(url))
    expect(missing.code).toBe(2)
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: 'SCHEMA_MISSING' } })

    const queue = await openTestQueue(database.url)
    onTestFinished(() => queue.close())
    const { rows } = await queue.sql.execute('SHOW TABLES')
    await queue.store.submit([newTask.parse({ type: 'mail', payload: '{}' })])
    const ended = await status(args, passwordOf(url))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(reportOf(ended)).toMatchObject({
      source: 'database',
      connection: { name: 'Orders', environment: 'production', server: expect.stringContaining('.') as string },
      figures: { depth: 1 },
      types: [{ type: 'mail', depth: [{ state: 'QUEUED', count: 1 }], failureRate: null, in1m: 1, out1m: 0 }]
    })
    expect((await queue.sql.execute('SHOW TABLES')).rows).toEqual(rows)
    expect(await status(['--json'], { TASKDECK_CONNECTION: database.url })).toMatchObject({ code: 0 })
  })

  it('ends with 2 in time when the server takes the connection and says nothing', async () => {
    const { hostname, port } = new URL(inject('mariadbUrl'))
    const wire = await TcpLink.to({ host: hostname, port: Number(port) })
    onTestFinished(() => wire.close())
    wire.pause()
    const url = new URL(inject('mariadbUrl'))
    const dataDir = await stored(new URL(`${url.protocol}//${url.username}@${url.host}/none`), wire.port)
    const ended = await status(['--data', dataDir, '--connection', 'Orders', '--timeout', '1'], passwordOf(url))
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('No answer within 1 s')
  })
})

describe('taskdeck status of a table that is not ours', () => {
  async function jobs(): Promise<{ url: string; run: (sql: string) => Promise<unknown> }> {
    const database = await createTestDatabase(inject('mariadbUrl'), 'status')
    onTestFinished(() => database.drop())
    const owner = await mysql.createConnection(database.url)
    onTestFinished(() => owner.end())
    await owner.query(thesisTable)
    return { url: database.url, run: (sql) => owner.query(sql) }
  }
  const profile = join(root, 'resources/profiles/thesis-run-task.json')
  const insert = (status: string, secondsAgo: number): string =>
    `INSERT INTO thesis_run_task (task_type, status, created_at, finished_at) VALUES ('outline', '${status}',
      UTC_TIMESTAMP() - INTERVAL ${secondsAgo} SECOND, IF('${status}' = 'SUCCESS', UTC_TIMESTAMP() - INTERVAL 30 SECOND, NULL))`

  it('ends with 0, says what the table does not tell, and needs no tables of ours', async () => {
    const { url, run } = await jobs()
    await run(insert('PENDING', 20))
    await run(insert('SUCCESS', 40))
    const ended = await status(['--url', url, '--profile', profile, '--json'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const report = reportOf(ended)
    expect(report).toMatchObject({
      source: 'database',
      verdict: 'well',
      connection: { name: expect.stringMatching(/, table thesis_run_task$/) as string },
      depth: [{ state: 'QUEUED', count: 1, accuracy: 'exact' }],
      figures: { depth: 1, in1m: 2, out1m: 1, failureRate: 0, retryRate: null, workersAlive: null },
      types: [{ type: 'outline', depth: [{ state: 'QUEUED', count: 1 }] }]
    })
    expect(report.limits.map(({ probe }) => probe)).toEqual(['retries', 'durations', 'workers', 'schedules'])
    const { stdout } = await status(['--url', url, '--profile', profile])
    expect(stdout).toContain('unknown: workers (the table does not say which workers live)\n')
  })

  it('ends with 1 for what waits too long, and with 2 and the index where it must not look', async () => {
    const { url, run } = await jobs()
    await run(insert('PENDING', 1_200))
    const late = await status(['--profile', profile, '--json'], { TASKDECK_CONNECTION: url })
    expect(late.code).toBe(1)
    expect(reportOf(late).troubles).toMatchObject([{ signal: 'oldestMs', above: 300_000 }])

    await run('DROP INDEX idx_task_ready ON thesis_run_task')
    await run(
      `INSERT INTO thesis_run_task (status, created_at) SELECT 'SUCCESS', UTC_TIMESTAMP() FROM (${tenThousand}) AS n CROSS JOIN (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3) AS m`
    )
    await run('ANALYZE TABLE thesis_run_task')
    const blind = await status(['--url', url, '--profile', profile])
    expect(blind.code).toBe(2)
    expect(blind.stdout).toMatch(/Not known: depth, oldestMs\./)
    expect(blind.stdout).toMatch(
      /held back: depth \(plan\); would help: CREATE INDEX `taskdeck_\w+` ON `thesis_run_task` \(/
    )
  })

  it('ends with 2 for a profile that cannot be used, and says what to change', async () => {
    const { url } = await jobs()
    const file = join(newDataDir(), 'mine.json')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      JSON.stringify({ ...(JSON.parse(readFileSync(profile, 'utf8')) as object), id: 'task_id', created: 'made' })
    )
    const wrong = await status(['--url', url, '--profile', file])
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toContain('created: say in "times" how the column "made" holds a moment')
    execFileSync('mkfifo', [`${file}.pipe`])
    const pipe = await status(['--url', url, '--profile', `${file}.pipe`, '--json'])
    expect(pipe.code).toBe(2)
    expect(pipe.stdout).toContain('cannot be read: is this the right file')
    const missing = await status(['--url', url, '--profile', `${file}.not`, '--json'])
    expect(missing.code).toBe(2)
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: 'FILE_UNAVAILABLE' } })
  })
})
