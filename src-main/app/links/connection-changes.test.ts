import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConnectionStore, Secrets } from '../../connections/index.ts'
import { AppError, systemClock } from '../../kernel/index.ts'
import type { AppLog } from '../app-log.ts'
import { ConnectionChanges } from './connection-changes.ts'
import type { ParsedDraft } from './connection-draft.ts'
import { Connections } from './connections.ts'

const silentLog: AppLog = {
  write: () => undefined,
  bug: () => 'reference',
  hide: () => undefined,
  redact: (text) => text
}
const diskFull = (): Promise<never> => Promise.reject(new AppError('DISK_FULL', 'operational', 'The disk is full.'))

/** Nobody listens where these connections lead to: only what is kept of them matters here. */
describe('saving a connection', () => {
  let folder: string
  let stored: ConnectionStore
  let secrets: Secrets
  let connections: Connections
  let changes: ConnectionChanges
  let moved: string[]
  let draft: ParsedDraft

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'taskdeck-connections-'))
    stored = await ConnectionStore.open(folder, systemClock)
    secrets = await Secrets.open(folder, { vault: null, clock: systemClock })
    moved = []
    const nothing = (): undefined => undefined
    const places = { clock: systemClock, migrationsDir: folder }
    connections = new Connections({
      clock: systemClock,
      places,
      localFile: join(folder, 'queue.sqlite'),
      ...{ stored, secrets, log: silentLog, onChange: nothing, onTick: nothing },
      lastKnownAt: () => Promise.resolve(null),
      onClosing: () => Promise.resolve(),
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
