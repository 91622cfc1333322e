import { randomBytes } from 'node:crypto'
import mysql, { type Connection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import type { ConnectionView } from '../../src-main/contract/index.ts'
import { StopStack, systemClock, type Clock, type Point, type QueueReading } from '../../src-main/kernel/index.ts'
import { TcpProxy } from '../faults/tcp-proxy.ts'
import { startApp, type AppUnderTest } from './app-under-test.ts'
import { MysqlQueue, tasks } from './store-mysql-queue.ts'

/*
 * The app on a server that is slow, locked, ill-indexed, closed-lipped or unreachable: it says what is wrong, goes on answering, recovers by
 * itself, and leaves no statement running on the server.
 */

let ends: StopStack
let queue: MysqlQueue
/** Looks at the server, and gets in the way, from outside. */
let stranger: Connection
let account: { readonly user: string; readonly password: string }
let app: AppUnderTest
/** What the app's monotonic clock is ahead of the real one. */
let skippedMs = 0

beforeEach(async () => {
  ends = new StopStack()
  skippedMs = 0
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  ends.add(() => queue.close())
  stranger = await mysql.createConnection(queue.made.url)
  ends.add(() => stranger.end())
  await (await queue.store()).submit(tasks(5))
  const clock: Clock = { ...systemClock, monotonic: () => performance.now() + skippedMs }
  app = await startApp({ clock })
  ends.add(() => app.app.stop())
})
afterEach(() => ends.stop())

/** An account of this test alone, so that its statements can be told from those of other tests. */
async function createAccount(grants: readonly string[]): Promise<void> {
  account = { user: `watch_${randomBytes(4).toString('hex')}`, password: 'pw' }
  await stranger.query(`CREATE USER '${account.user}'@'127.0.0.1' IDENTIFIED BY '${account.password}'`)
  ends.add(() => stranger.query(`DROP USER IF EXISTS '${account.user}'@'127.0.0.1'`).then(() => undefined))
  for (const grant of grants) await stranger.query(`GRANT ${grant} TO '${account.user}'@'127.0.0.1'`)
}

async function connect(port: number, accessMode: 'read-only' | 'read-write' = 'read-only'): Promise<ConnectionView> {
  const view = await app.client.connections.save({
    name: 'Watched',
    environment: 'development',
    accessMode,
    mysql: { host: '127.0.0.1', port, user: account.user, database: queue.made.name },
    password: account.password
  })
  return view
}

const serverPort = (): number => Number(new URL(queue.made.url).port)
const everything = (): string[] => [`ALL ON ${queue.made.name}.*`]

const isLive = ({ link }: ConnectionView): boolean => link.status === 'live'
const lostWith =
  (...codes: string[]) =>
  ({ link }: ConnectionView): boolean =>
    link.status === 'lost' && codes.includes(link.problem.code)

/** Of the account under test: what runs, or waits for a lock, on the server. */
async function running(): Promise<unknown[]> {
  const [rows] = await stranger.query(
    "SELECT ID, COMMAND, INFO FROM information_schema.PROCESSLIST WHERE USER = ? AND COMMAND <> 'Sleep'",
    [account.user]
  )
  return rows as unknown[]
}
const nothingRuns = (): Promise<void> => expect.poll(running, { timeout: 10_000 }).toEqual([])

/** The app answers the page at once, whatever its server does. */
async function answersAtOnce(): Promise<void> {
  const began = performance.now()
  await app.client.connections.list()
  await app.client.overview.snapshot({ connectionId: 'local', rangeMs: 900_000 })
  expect(performance.now() - began).toBeLessThan(2_000)
}

async function nextTick(
  id: string,
  fits: (reading: QueueReading) => boolean
): Promise<{ reading: QueueReading; points: readonly Point[] }> {
  const { tick } = await app.event('tick', (found) => found.tick.connectionId === id && fits(found.tick.reading))
  return tick
}

describe('a server behind a bad network', () => {
  async function behindProxy(): Promise<{ proxy: TcpProxy; view: ConnectionView }> {
    await createAccount(everything())
    const proxy = await TcpProxy.to({ host: '127.0.0.1', port: serverPort() })
    ends.add(() => proxy.close())
    const view = await connect(proxy.port)
    await app.link(view.id, isLive)
    return { proxy, view }
  }

  it('that takes 5 s each way is given up with a reason, and is back when the network is', async () => {
    const { proxy, view } = await behindProxy()
    proxy.latencyMs = 5_000
    await app.link(view.id, lostWith('STATEMENT_TIMEOUT', 'CONNECT_TIMEOUT', 'CONNECTION_LOST'))
    await answersAtOnce()
    proxy.latencyMs = 0
    await app.link(view.id, isLive)
    await nothingRuns()
  })

  it('that goes silent is given up with a reason, and is back when it speaks again', async () => {
    const { proxy, view } = await behindProxy()
    proxy.silence('toServer', 'toClient')
    await app.link(view.id, lostWith('STATEMENT_TIMEOUT', 'CONNECT_TIMEOUT', 'CONNECTION_LOST'))
    await answersAtOnce()
    proxy.resume()
    await app.link(view.id, isLive)
    await nothingRuns()
  })

  it('whose answers do not arrive keeps none of the statements that were sent', async () => {
    const { proxy, view } = await behindProxy()
    proxy.silence('toClient')
    await app.link(view.id, lostWith('STATEMENT_TIMEOUT', 'CONNECT_TIMEOUT', 'CONNECTION_LOST'))
    await nothingRuns()
    proxy.resume()
    await app.link(view.id, isLive)
  })
})

describe('a locked table', () => {
  it('is named as the reason while LOCK TABLES holds it, and nobody keeps waiting for it', async () => {
    await createAccount(everything())
    const view = await connect(serverPort())
    await app.link(view.id, isLive)
    await stranger.query('LOCK TABLES taskdeck_task WRITE')
    await app.link(view.id, lostWith('LOCK_TIMEOUT'))
    await answersAtOnce()
    await stranger.query('UNLOCK TABLES')
    await app.link(view.id, isLive)
    await nothingRuns()
  })

  it('is named as the reason while an ALTER waits for an open transaction', async () => {
    await createAccount(everything())
    const view = await connect(serverPort())
    await app.link(view.id, isLive)
    const altering = await mysql.createConnection(queue.made.url)
    ends.add(() => altering.end())
    await stranger.query('START TRANSACTION')
    await stranger.query('SELECT id FROM taskdeck_task LIMIT 1')
    const altered = altering.query('ALTER TABLE taskdeck_task ADD COLUMN extra INT NULL')
    await app.link(view.id, lostWith('LOCK_TIMEOUT'))
    await answersAtOnce()
    await stranger.query('COMMIT')
    await altered
    await app.link(view.id, isLive)
    await nothingRuns()
  })
})

describe('a probe that must not run', () => {
  it('for want of its index is left out, with the index as SQL; made, the figure is back', async () => {
    await createAccount(everything())
    await stranger.query('DROP INDEX taskdeck_task_created ON taskdeck_task')
    const { id } = await connect(serverPort())
    const { reading, points } = await nextTick(id, ({ limits }) => limits.length > 0)
    const [limit, ...more] = reading.limits
    expect(more).toEqual([])
    expect(limit).toMatchObject({ probe: 'submitted', reason: 'plan' })
    expect(points.map(({ metric }) => metric)).not.toContain('in1m')
    expect(reading.depth).toEqual([{ type: 't', state: 'QUEUED', count: 5 }])
    await stranger.query(limit?.index ?? '')
    skippedMs += 60_000
    await app.client.connections.retryNow({ connectionId: id })
    const healed = await nextTick(id, ({ limits }) => limits.length === 0)
    expect(healed.points.find(({ metric, type }) => metric === 'in1m' && type === '')?.value).toBe(5)
    await nothingRuns()
  })

  it('for want of rights is left out, the others go on: an account with SELECT on one table', async () => {
    await createAccount([`SELECT ON ${queue.made.name}.taskdeck_task`])
    const { id } = await connect(serverPort())
    const { reading, points } = await nextTick(id, () => true)
    expect(reading.depth).toEqual([{ type: 't', state: 'QUEUED', count: 5 }])
    expect(reading.oldest).toHaveLength(1)
    const refused = reading.limits.map(({ probe, reason }) => `${probe} ${reason}`).sort()
    expect(refused).toEqual(['durations rights', 'ended rights', 'schedules rights', 'workers rights'])
    const metrics = points.map(({ metric }) => metric)
    expect(metrics).toContain('in1m')
    for (const unknown of ['workersAlive', 'failureRate', 'schedulesLate']) expect(metrics).not.toContain(unknown)
    await stranger.query(`GRANT SELECT ON ${queue.made.name}.* TO '${account.user}'@'127.0.0.1'`)
    skippedMs += 60_000
    await app.client.connections.retryNow({ connectionId: id })
    await nextTick(id, ({ limits }) => limits.length === 0)
  })
})

describe('a statement that is given up', () => {
  it('is ended on the server, and the database is good for the next one', async () => {
    await createAccount(everything())
    const database = await openMysql(
      { ...parseMysqlUrl(queue.made.url), ...account },
      {
        accessMode: 'read-write',
        poolSize: 1,
        acquireTimeoutMs: 5_000,
        connectTimeoutMs: 5_000,
        statementTimeoutMs: 50_000,
        clock: systemClock
      }
    )
    ends.add(() => database.close())
    const giveUp = new AbortController()
    const long = database.execute('SELECT SLEEP(40)', [], { signal: giveUp.signal })
    await expect.poll(running).toHaveLength(1)
    giveUp.abort()
    await expect(long).rejects.toMatchObject({ code: 'STATEMENT_TIMEOUT' })
    await nothingRuns()
    expect((await database.execute('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await expect(database.execute('SELECT 1', [], { signal: giveUp.signal })).rejects.toMatchObject({
      code: 'STATEMENT_TIMEOUT'
    })
  })
})

describe('a reading', () => {
  it('tells the load of the server, what it cost, and how many schedules are late', async () => {
    await createAccount(everything())
    const values = "'0 0 * * *', 'UTC', 'SKIP'"
    await stranger.query(`INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, next_at, updated_at) VALUES
      ('late', ${values}, 1, '{}', UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE, NOW(6)),
      ('soon', ${values}, 1, '{}', UTC_TIMESTAMP(6) - INTERVAL 30 SECOND, NOW(6)),
      ('off', ${values}, 0, '{}', UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE, NOW(6))`)
    const { id } = await connect(serverPort())
    await nextTick(id, () => true)
    const { reading } = await nextTick(id, ({ costRows }) => costRows !== null)
    expect(reading.schedulesLate).toBe(1)
    expect(reading.server?.sessions).toBeGreaterThanOrEqual(2)
    expect(reading.server?.mostSessions).toBeGreaterThan(reading.server?.sessions ?? 0)
    expect(reading.server?.threadsRunning).toBeGreaterThanOrEqual(1)
    expect(reading.costRows).toBeGreaterThan(0)
    expect(reading.costRows).toBeLessThan(10_000)
  })
})
