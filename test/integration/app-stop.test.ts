import { expect, inject, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src-main/kernel/index.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import { migrate, startApp } from './app-under-test.ts'
import { TcpLink } from './connections-link.ts'

/** What a user waits after Ctrl-C before they press it again. */
const patienceMs = 5_000

it('the app ends in 5 s although its database, with a worker and running tasks on it, never answers', async () => {
  const database = await createTestDatabase(inject('mariadbUrl'), 'app_stop')
  onTestFinished(() => database.drop())
  const { hostname, port, username, password, pathname } = new URL(database.url)
  const wire = await TcpLink.to({ host: hostname, port: Number(port) })
  onTestFinished(() => wire.close())
  const { app, client, link, event } = await startApp()
  const { id: connectionId } = await client.connections.save({
    name: 'Silent',
    environment: 'development',
    accessMode: 'read-write',
    mysql: { host: '127.0.0.1', port: wire.port, user: decodeURIComponent(username), database: pathname.slice(1) },
    password: decodeURIComponent(password)
  })
  await migrate(client, connectionId)
  await link(connectionId, (view) => view.link.status === 'live')
  await client.localWorker.start({ connectionId, slots: 2, handlersDir: null })
  await client.tasks.submit({ connectionId, task: { type: 'sleep', payload: '{"ms":600000}' }, count: 2 })
  await event('localWorker', ({ localWorker }) => localWorker.running === 2)
  wire.pause()
  // Calls that nobody will answer.
  const asked = client.tasks.list({ connectionId, filter: {} }).catch(() => 'gone')
  const from = systemClock.monotonic()
  await app.stop()
  expect(systemClock.monotonic() - from).toBeLessThan(patienceMs)
  wire.cut()
  await asked
})

it('the app ends at once while it still waits for a database that accepts and says nothing', async () => {
  const { hostname, port } = new URL(inject('mariadbUrl'))
  const wire = await TcpLink.to({ host: hostname, port: Number(port) })
  onTestFinished(() => wire.close())
  wire.pause()
  const { app, client } = await startApp()
  const mysql = { host: '127.0.0.1', port: wire.port, user: 'u', database: 'd' }
  const shared = { environment: 'development', accessMode: 'read-only', mysql, password: 'p' } as const
  const saving = client.connections.save({ name: 'Mute', ...shared }).catch(() => 'gone')
  await expect.poll(() => wire.connections).toBe(1)
  const from = systemClock.monotonic()
  await app.stop()
  expect(systemClock.monotonic() - from).toBeLessThan(patienceMs)
  wire.cut()
  await saving
})
