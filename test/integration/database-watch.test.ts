import mysql, { type RowDataPacket } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { DatabaseEvent } from '../../src-main/contract/index.ts'
import { StopStack } from '../../src-main/kernel/index.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { migrate, startApp, type AppUnderTest } from './app-under-test.ts'

/* A page that watches a database, over the wire and with outputs checked against the contract. */

let ends: StopStack
beforeEach(() => {
  ends = new StopStack()
})
afterEach(() => ends.stop())

async function start(): Promise<AppUnderTest> {
  const started = await startApp()
  ends.add(() => started.app.stop())
  return started
}

/** The first look; the page goes on listening until `leave`. */
async function watch({ client }: AppUnderTest, connectionId: string) {
  const leaver = new AbortController()
  ends.add(() => leaver.abort())
  const events = await client.database.watch({ connectionId }, { signal: leaver.signal })
  const first = await events.next()
  return { first: first.value as DatabaseEvent, leave: () => leaver.abort() }
}

describe('watching a database', () => {
  it('looks at the local queue’s file', async () => {
    const { first } = await watch(await start(), 'local')
    expect(first).toMatchObject({ status: 'seen', health: { kind: 'sqlite', journalMode: 'wal' } })
    if (first.status !== 'seen') throw new Error('no look')
    expect(first.health.plans.map(({ verdict }) => verdict)).toEqual(['good', 'good'])
  })

  it('looks at a server on a connection of its own, which is gone when the page has left', async () => {
    const app = await start()
    const database = await createTestDatabase(inject('mariadbUrl'))
    ends.add(() => database.drop())
    const admin = await mysql.createConnection({ uri: database.url })
    ends.add(() => admin.end())
    const sessions = async (): Promise<number> => {
      const [rows] = await admin.query<RowDataPacket[]>(
        'SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID()',
        [database.name]
      )
      return Number(rows[0]?.['n'])
    }
    const { hostname, port, username, password } = new URL(database.url)
    const { id } = await app.client.connections.save({
      name: 'Watched',
      environment: 'development',
      accessMode: 'read-only',
      mysql: { host: hostname, port: Number(port), user: decodeURIComponent(username), database: database.name },
      password: decodeURIComponent(password)
    })
    await app.client.connections.setAccessMode({ connectionId: id, accessMode: 'read-write' })
    await migrate(app.client, id)
    await app.link(id, ({ link }) => link.status === 'live')
    await app.client.connections.setAccessMode({ connectionId: id, accessMode: 'read-only' })
    await app.link(id, ({ link }) => link.status === 'live')
    const before = await sessions()

    const { first, leave } = await watch(app, id)
    expect(first).toMatchObject({ status: 'seen', health: { kind: 'mysql', flavour: 'mariadb' } })
    if (first.status !== 'seen') throw new Error('no look')
    expect(first.health.plans.map(({ verdict }) => verdict)).toEqual(['good', 'good', 'good'])
    expect(await sessions()).toBe(before + 1)
    leave()
    await expect.poll(sessions, { timeout: 10_000 }).toBe(before)
  })

  it('is refused for a connection that does not exist', async () => {
    await expect(watch(await start(), 'nobody')).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } })
  })
})
