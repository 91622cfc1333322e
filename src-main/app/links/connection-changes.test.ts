import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConnectionStore, Secrets } from '../../connections/index.ts'
import { AppError, systemClock } from '../../kernel/index.ts'
import { parseProfile } from '../../schema-profiles/index.ts'
import { silentLog } from '../../../test/support/silent-log.ts'
import { ConnectionChanges } from './connection-changes.ts'
import type { ParsedDraft } from './connection-draft.ts'
import { Connections } from './connections.ts'

const diskFull = (): Promise<never> => Promise.reject(new AppError('DISK_FULL', 'operational', 'The disk is full.'))

const text = readFileSync(join(import.meta.dirname, '../../../resources/profiles/thesis-run-task.json'), 'utf8')
const profile = parseProfile(text, 'thesis')
const changed = (change: object): string => JSON.stringify({ ...profile, ...change })

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
      profile: null,
      password: 'first',
      keepPassword: 'session'
    }
  })
  const foreign = (): ParsedDraft => ({ ...draft, accessMode: 'read-only', profile: text })
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

  it.each([
    ['from our own tables', null],
    ['from another table', changed({ table: 'other' })],
    ['from another column of the type', changed({ type: { column: 'kind' } })],
    ['from other states', changed({ states: profile.states.slice(1) })],
    ['from another zone', changed({ times: { ...profile.times, created_at: { kind: 'datetime', zone: '+08:00' } } })],
    ['from what is no profile any more', '{"format": 0}']
  ])('that moves to a table %s forgets what was seen', async (_what, before) => {
    const { id } = await changes.save(foreign())
    await connections.reopen({ ...connections.stored(id), profile: before })
    await changes.save({ ...foreign(), id })
    expect(moved).toEqual([id])
  })

  it('that says the same in other words keeps it', async () => {
    const { id } = await changes.save(foreign())
    const { times, ...rest } = profile
    const turned = Object.fromEntries(Object.entries(times).reverse())
    const states = profile.states.map((state) => ({
      ...state,
      name: `x-${state.name}`,
      when: [...state.when].reverse()
    }))
    const text = JSON.stringify({ times: turned, ...rest, name: 'Renamed', states: states.reverse() }, null, 4)
    const saved = await changes.save({ ...foreign(), id, profile: text })
    expect(moved).toEqual([])
    expect(saved.profile).toEqual({ text, name: 'Renamed', table: 'thesis_run_task' })
  })

  it.each([
    ['no JSON', 'SELECT 1', /is not JSON/],
    ['another format', '{"format": 2}', /format: /],
    [
      'states that overlap',
      changed({ states: [profile.states[0], { ...profile.states[0], name: 'twice' }] }),
      /a row may be/
    ]
  ])('is refused with a profile that is %s, and says why', async (_what, text, message) => {
    await expect(changes.save({ ...foreign(), profile: text })).rejects.toMatchObject({
      ...{ code: 'INVALID_INPUT', kind: 'user', details: { field: 'profile' } },
      message: expect.stringMatching(message) as string
    })
    expect(stored.list()).toEqual([])
  })

  it('to a table that is not ours never writes, and never makes tables', async () => {
    const refused = { code: 'FOREIGN_TABLE', kind: 'user' }
    await expect(changes.save({ ...foreign(), accessMode: 'read-write' })).rejects.toMatchObject(refused)
    const { id } = await changes.save(foreign())
    await expect(changes.setAccessMode(id, 'read-write', '')).rejects.toMatchObject(refused)
    await expect(changes.schemaPlan(id)).rejects.toMatchObject(refused)
    await expect(changes.migrate(id, '')).rejects.toMatchObject(refused)
    await expect(connections.store(id)).rejects.toMatchObject(refused)
    await expect(connections.writableStore(id)).rejects.toMatchObject(refused)
    expect(() => connections.target(id)).toThrow(expect.objectContaining(refused))
    expect(stored.list()).toMatchObject([{ accessMode: 'read-only' }])
    // And may become one of our own again.
    await changes.save({ ...draft, id })
    expect((await changes.setAccessMode(id, 'read-write', '')).profile).toBeNull()
  })

  it('shows a stored profile that is none any more as what is in the way', async () => {
    const { id } = await changes.save(foreign())
    await connections.reopen({ ...connections.stored(id), profile: '{"format": 0}' })
    expect(connections.view(id)).toMatchObject({
      profile: { text: '{"format": 0}', name: null, table: null },
      link: { status: 'lost', problem: { code: 'INVALID_INPUT', details: { field: 'profile' } } }
    })
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
