import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConnectionStore, Secrets } from '../../connections/index.ts'
import { AppError, systemClock } from '../../kernel/index.ts'
import { silentLog } from '../../../test/support/silent-log.ts'
import { ConnectionChanges } from './connection-changes.ts'
import type { ParsedDraft } from './connection-draft.ts'
import { Connections } from './connections.ts'

const diskFull = (): Promise<never> => Promise.reject(new AppError('DISK_FULL', 'operational', 'The disk is full.'))

/** Nobody listens where these connections lead to: only what is kept of them matters here. */
describe('saving a connection', () => {
  let folder: string
  let stored: ConnectionStore
  let secrets: Secrets
  let connections: Connections
  let changes: ConnectionChanges
  let moved: string[]
  /** What the rest of the app does when it is told to let go. */
  let letGo: (id: string) => Promise<void>
  let draft: ParsedDraft

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'taskdeck-connections-'))
    stored = await ConnectionStore.open(folder, systemClock)
    secrets = await Secrets.open(folder, { vault: null, clock: systemClock })
    moved = []
    letGo = () => Promise.resolve()
    const nothing = (): undefined => undefined
    const places = { clock: systemClock, migrationsDir: folder }
    connections = new Connections({
      clock: systemClock,
      places,
      localFile: join(folder, 'queue.sqlite'),
      ...{ stored, secrets, log: silentLog, onChange: nothing, onTick: nothing },
      lastKnownAt: () => Promise.resolve(null),
      onClosing: (id) => letGo(id),
      onMoved: (id) => Promise.resolve(void moved.push(id))
    })
    changes = new ConnectionChanges({ clock: systemClock, places, connections, stored, secrets, log: silentLog })
    draft = {
      id: null,
      name: 'Shop',
      environment: 'development',
      accessMode: 'read-write',
      mysql: { host: '127.0.0.1', port: await closedPort(), user: 'u', database: 'a', tls: 'disabled', ca: '' },
      password: 'first',
      keepPassword: 'session'
    }
  })
  afterEach(async () => {
    await connections.stop()
    await rm(folder, { recursive: true })
  })

  it.each([
    ['host', { host: 'localhost' }],
    ['port', { port: 1 }],
    ['database', { database: 'b' }]
  ])('to another %s forgets what was seen under its id', async (_what, change) => {
    const { id } = await changes.save(draft)
    await changes.save({ ...draft, id, mysql: { ...draft.mysql, ...change } })
    expect(moved).toEqual([id])
  })

  it('that leads to the same database keeps it', async () => {
    const { id } = await changes.save(draft)
    await changes.save({ ...draft, id, name: 'Other', mysql: { ...draft.mysql, user: 'other' } })
    expect(moved).toEqual([])
  })

  it('lets nobody begin with the connection as it was', async () => {
    const { id } = await changes.save(draft)
    let late: unknown
    letGo = async () => {
      late = await connections.login(id).catch((error: unknown) => error)
    }
    await changes.save({ ...draft, id, accessMode: 'read-only' })
    expect(late).toMatchObject({ code: 'CONNECTION_LOST', kind: 'user' })
    await expect(connections.login(id)).resolves.toMatchObject({ user: 'u' })
  })

  it('stays as it is when the rest of the app cannot let go', async () => {
    const { id } = await changes.save(draft)
    letGo = () => Promise.reject(new Error('the worker does not stop'))
    await expect(changes.save({ ...draft, id, name: 'Other' })).rejects.toThrow('does not stop')
    await expect(connections.login(id)).resolves.toMatchObject({ user: 'u' })
  })

  it('leaves the secrets alone when the settings cannot be written', async () => {
    const { id } = await changes.save(draft)
    stored.save = diskFull
    const elsewhere = { ...draft, id, mysql: { ...draft.mysql, host: 'localhost' } }
    await expect(changes.save({ ...elsewhere, password: null })).rejects.toMatchObject({ code: 'DISK_FULL' })
    await expect(changes.save({ ...elsewhere, password: 'second' })).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await secrets.password(id, draft.mysql)).toBe('first')
  })

  it('leaves the settings as they were when the secret cannot be kept', async () => {
    const vault = { keepPassword: 'vault', password: 'second' } as const
    await expect(changes.save({ ...draft, ...vault })).rejects.toMatchObject({ code: 'VAULT_UNAVAILABLE' })
    expect(stored.list()).toEqual([])
    const { id } = await changes.save(draft)
    const change = { ...draft, ...vault, id, name: 'Other' }
    await expect(changes.save(change)).rejects.toMatchObject({ code: 'VAULT_UNAVAILABLE' })
    expect(stored.list()).toMatchObject([{ id, name: 'Shop' }])
    expect(await secrets.password(id, draft.mysql)).toBe('first')
  })
})

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
