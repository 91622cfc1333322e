import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import {
  serverHealth,
  StopStack,
  systemClock,
  type Clock,
  type HealthPart,
  type ServerHealth,
  type SqlDatabase
} from '../../src-main/kernel/index.ts'
import { ServerLook, type ServerLookOptions } from '../../src-main/monitoring/health/index.ts'
import { claimStatements } from '../../src-main/queue/store-mysql/index.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'
import { MysqlQueue, tasks } from './store-mysql-queue.ts'

/*
 * The looks at a server on a real one: a lock wait that is really there, a deadlock that really happened, and an account that may see next to
 * nothing. The server is its own: waits and deadlocks of other tests would be seen too.
 */

let server: TestMariaDb
let queue: MysqlQueue
let ends: StopStack
let taskIds: string[]

beforeAll(async () => {
  server = await startPrivateMariaDb({ inMemory: true })
  queue = await MysqlQueue.migrated(server.url())
  const store = await queue.store()
  const results = await store.submit(tasks(4, { type: 'mail', payload: '{"token":"hunter2"}' }))
  taskIds = results.map(({ taskId }) => taskId)
  await store.claim({ workerId: 'imp-01', types: ['mail'], limit: 2, leaseMs: 60_000 })
  await store.close()
})
afterAll(async () => {
  await queue.close()
  await server.stop()
})
afterEach(() => ends.stop())
beforeEach(() => {
  ends = new StopStack()
})

async function session(url = queue.made.url): Promise<Connection> {
  const connection = await mysql.createConnection({ uri: url })
  ends.add(() => connection.destroy())
  return connection
}

const idOf = async (connection: Connection): Promise<string> => {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT CONNECTION_ID() AS id')
  return String(rows[0]?.['id'])
}

async function open(url = queue.made.url): Promise<SqlDatabase> {
  const database = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-only',
    poolSize: 1,
    acquireTimeoutMs: 5_000,
    connectTimeoutMs: 8_000,
    statementTimeoutMs: 2_000,
    clock: systemClock
  })
  ends.add(() => database.close())
  return database
}

async function lookAt(change: Partial<ServerLookOptions> = {}): Promise<ServerLook> {
  return new ServerLook({
    database: change.database ?? (await open()),
    clock: systemClock,
    statements: () => claimStatements({ type: 'mail', priority: 5, batch: 10 }),
    workers: () => [],
    table: null,
    ...change
  })
}

function valueOf<T>(part: HealthPart<T>): T {
  if (part.status === 'unknown') throw new Error(`unknown: ${JSON.stringify(part.gap)}`)
  return part.value
}

async function serverHost(): Promise<string> {
  const [rows] = await (await session()).query<RowDataPacket[]>('SELECT @@hostname AS host')
  return String(rows[0]?.['host'])
}

/** It may read the queue's tables and nothing else. */
async function poorAccount(prefix: string): Promise<{ readonly name: string; readonly url: string }> {
  const admin = await mysql.createConnection({ uri: queue.made.url })
  const name = `${prefix}_${queue.made.name.slice(-8)}`
  await admin.query(`CREATE USER '${name}'@'127.0.0.1' IDENTIFIED BY 'pw'`)
  await admin.query(`GRANT SELECT ON \`${queue.made.name}\`.* TO '${name}'@'127.0.0.1'`)
  ends.add(async () => {
    await admin.query(`DROP USER '${name}'@'127.0.0.1'`)
    await admin.end()
  })
  const url = new URL(queue.made.url)
  url.username = name
  url.password = 'pw'
  return { name, url: url.href }
}

/** One session holds the row of a task, another waits for it. */
async function makeWait(): Promise<{ readonly blocking: string; readonly waiting: string }> {
  const [holder, waiter] = [await session(), await session()]
  await holder.query('START TRANSACTION')
  await holder.query(`UPDATE taskdeck_task SET title = 'held' WHERE id = ${taskIds[0]}`)
  const waits = waiter.query(`UPDATE taskdeck_task SET title = 'hunter2' WHERE id = ${taskIds[0]}`)
  waits.catch(() => undefined) // it ends with its session
  return { blocking: await idOf(holder), waiting: String(waiter.threadId) }
}

/** Looks until it fits: the server copies its lists of locks now and then. */
async function until(look: ServerLook, fits: (health: ServerHealth) => boolean): Promise<ServerHealth> {
  let health = await look.look()
  await expect
    .poll(
      async () => {
        health = await look.look()
        return fits(health)
      },
      { timeout: 10_000, interval: 150 }
    )
    .toBe(true)
  return health
}

describe('a look at a server', () => {
  it('fits the contract, and knows everything that an administrator may see', async () => {
    const health = await (await lookAt()).look()
    expect(serverHealth.safeParse(health).error).toBeUndefined()
    const unknown = Object.entries(health).filter(([, part]) => (part as { status?: string }).status === 'unknown')
    expect(unknown).toEqual([])
    expect(valueOf(health.counters)).toMatchObject({ sessions: expect.any(Number) as number })
    expect(valueOf(health.counters).mostSessions).toBeGreaterThan(10)
    expect(valueOf(health.tables).map(({ name }) => name)).toContain('taskdeck_task')
    expect(valueOf(health.indexes).map(({ name }) => name)).toContain('taskdeck_task_claim')
    expect(valueOf(health.settings).map(({ name }) => name)).toContain('innodb_flush_log_at_trx_commit')
    expect(valueOf(health.replicas)).toEqual([])
    expect(valueOf(health.transactions).unpurged).toEqual(expect.any(Number))
  })

  it('plans the engine’s own statements, and finds them in the order of their index', async () => {
    const { plans } = await (await lookAt()).look()
    expect(plans.map(({ name, verdict, advice, withoutLock }) => [name, verdict, advice, withoutLock])).toEqual([
      ['groups', 'good', 'jumps', false],
      ['claim', 'good', 'inOrder', true],
      ['claimOwner', 'good', 'inOrder', true]
    ])
    expect(plans[1]?.steps).toMatchObject([{ access: 'range', key: 'taskdeck_task_claim' }])
  })

  it('sees who waits for whom, for which task, and which worker leases it', async () => {
    const { blocking, waiting } = await makeWait()
    const host = await serverHost()
    const look = await lookAt({
      workers: () => [
        { id: 'imp-01', host },
        { id: 'gen-01', host }
      ]
    })
    const health = await until(look, ({ waits }) => valueOf(waits).length > 0)
    const [wait] = valueOf(health.waits)
    expect(wait).toMatchObject({
      waiting: {
        sessionId: waiting,
        waiting: true,
        statement: 'UPDATE taskdeck_task SET title = ? WHERE id = ?',
        // Both come from the worker's host: which of them is the worker's, nobody can tell.
        workers: ['imp-01', 'gen-01'],
        tie: 'host'
      },
      blocking: { sessionId: blocking, idle: true, waiting: false, rowsChanged: 1, tie: 'host' },
      table: 'taskdeck_task',
      index: 'PRIMARY',
      task: { taskId: taskIds[0], type: 'mail', state: 'RUNNING', workerId: 'imp-01' }
    })
    expect(wait?.waitedMs).toBeLessThan(15_000)
    expect(valueOf(health.transactions).open.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining([blocking, waiting])
    )
    expect(JSON.stringify(health)).not.toContain('hunter2')
  })

  it('counts the age of a transaction right where the server is in another zone than its sessions', async () => {
    const elsewhere = await startPrivateMariaDb({ env: { TZ: 'America/New_York' } })
    ends.add(() => elsewhere.stop())
    const url = await elsewhere.createDatabase('elsewhere')
    const holder = await session(url)
    await holder.query('CREATE TABLE t (id INT PRIMARY KEY) ENGINE = InnoDB')
    await holder.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    await holder.query('SELECT COUNT(*) FROM t')
    const id = await idOf(holder)
    const found = ({ transactions }: ServerHealth) =>
      valueOf(transactions).open.find(({ sessionId }) => sessionId === id)
    const health = await until(await lookAt({ database: await open(url) }), (seen) => found(seen) !== undefined)
    expect(found(health)?.ageMs).toBeLessThan(15_000)
  })

  it('reads the last deadlock, with the task that was fought for and nothing of its values', async () => {
    const [one, two] = [await session(), await session()]
    const [first, second] = taskIds
    const change = (id: string | undefined): string => `UPDATE taskdeck_task SET title = 'hunter2' WHERE id = ${id}`
    for (const connection of [one, two]) await connection.query('START TRANSACTION')
    await one.query(change(first))
    await two.query(change(second))
    const meets = [one.query(change(second)), two.query(change(first))].map((query) => query.then(() => '', String))
    expect((await Promise.all(meets)).some((text) => text.includes('Deadlock'))).toBe(true)
    const health = await (await lookAt()).look()
    const deadlock = valueOf(health.deadlock)
    expect(deadlock?.agoMs).toBeLessThan(60_000)
    expect(deadlock?.parties).toHaveLength(2)
    expect(deadlock?.parties.map(({ verb, waitsFor }) => [verb, waitsFor?.table, waitsFor?.index])).toEqual([
      ['UPDATE', 'taskdeck_task', 'PRIMARY'],
      ['UPDATE', 'taskdeck_task', 'PRIMARY']
    ])
    expect(deadlock?.parties.map(({ task }) => task?.taskId).sort()).toEqual([first, second].sort())
    expect(deadlock?.parties.filter(({ rolledBack }) => rolledBack)).toHaveLength(1)
    expect(valueOf(health.counters).deadlocks).toBeGreaterThan(0)
    expect(JSON.stringify(health)).not.toContain('hunter2')
  })

  it('says that the claim’s index is missing, and how to make it', async () => {
    const own = await MysqlQueue.migrated(server.url())
    ends.add(() => own.close())
    await (await own.connect()).execute('ALTER TABLE taskdeck_task DROP KEY taskdeck_task_claim')
    const { plans } = await (await lookAt({ database: await open(own.made.url) })).look()
    const broken = plans.find(({ name }) => name === 'claim')
    expect(broken).toMatchObject({ verdict: 'bad', advice: 'indexMissing' })
    await (await own.connect()).execute(broken?.remedy ?? '')
    const mended = await (await lookAt({ database: await open(own.made.url) })).look()
    expect(mended.plans.map(({ verdict }) => verdict)).toEqual(['good', 'good', 'good'])
  })

  it('asks again seldom for what moves seldom', async () => {
    let now = 0
    const clock: Clock = { ...systemClock, monotonic: () => now }
    const look = await lookAt({ clock })
    const first = await look.look()
    now = 5_000
    const second = await look.look()
    expect(second.statements).toBeLessThan(first.statements / 2)
    now = 70_000
    expect((await look.look()).statements).toBeGreaterThan(second.statements + 5)
  })
})

describe('an account with SELECT on the queue alone', () => {
  it('is told which grants would show the rest, and sees everything else', async () => {
    const { name, url } = await poorAccount('blind')
    const health = await (await lookAt({ database: await open(url) })).look()
    expect(serverHealth.safeParse(health).error).toBeUndefined()
    const process = { reason: 'rights', remedy: `GRANT PROCESS ON *.* TO '${name}'@'127.0.0.1'`, errno: 1227 }
    expect(health.waits).toEqual({ status: 'unknown', gap: process })
    expect(health.transactions).toEqual({ status: 'unknown', gap: process })
    expect(health.deadlock).toEqual({ status: 'unknown', gap: process })
    expect(health.replicas).toMatchObject({
      gap: { reason: 'rights', remedy: expect.stringContaining('REPLICA MONITOR') as string }
    })
    expect(health.indexes).toMatchObject({
      gap: { reason: 'rights', remedy: `GRANT SELECT ON mysql.innodb_index_stats TO '${name}'@'127.0.0.1'` }
    })
    expect(valueOf(health.accounts).map(({ account }) => account)).toEqual([name])
    expect(health.plans.map(({ verdict }) => verdict)).toEqual(['good', 'good', 'good'])
    for (const part of [health.counters, health.settings, health.tables]) expect(part.status).toBe('known')
  })

  it('sees it as soon as the grants are given', async () => {
    const { url } = await poorAccount('seeing')
    const admin = await session()
    const remedies = async (): Promise<string[]> => {
      const health = await (await lookAt({ database: await open(url) })).look()
      const gaps = Object.values(health).flatMap(
        (part) => (part as { gap?: { remedy: string | null } }).gap?.remedy ?? []
      )
      return [...new Set(gaps)]
    }
    const needed = await remedies()
    expect(needed).toHaveLength(3)
    for (const statement of needed) await admin.query(statement)
    expect(await remedies()).toEqual([])
  })
})
