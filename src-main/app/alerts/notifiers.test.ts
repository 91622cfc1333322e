import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAlerts, type Alerts, type IncidentMessage } from '../../alerting/index.ts'
import { firingOf } from '../../alerting/notifiers/notifiers.fixture.ts'
import { Secrets, type SecretVault } from '../../connections/index.ts'
import { systemClock, type AppError } from '../../kernel/index.ts'
import { createAppLog, type AppLog } from '../app-log.ts'
import { Notifiers, type ParsedNotifierDraft } from './notifiers.ts'

const migrationsDir = resolve(import.meta.dirname, '../../../migrations/cache')
const address = 'https://hooks.example.com/services/T024BE7LD/canary0815'

/** Turns the text around: what is kept does not look like what was given. */
const vault: SecretVault = {
  ...{ persistent: true, name: 'test', reason: null },
  encrypt: (text) => Promise.resolve(Buffer.from([...text].reverse().join(''))),
  decrypt: (bytes) => Promise.resolve([...Buffer.from(bytes).toString()].reverse().join(''))
}

let dir: string
let alerts: Alerts
let log: AppLog
let failures: AppError[]
/** What somebody new is to be told. */
let firing: IncidentMessage[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskdeck-notifiers-'))
  failures = []
  firing = []
  log = createAppLog({ file: join(dir, 'taskdeck.log'), clock: systemClock })
  alerts = open()
})
afterEach(async () => {
  await alerts.stop()
  rmSync(dir, { recursive: true })
})

const open = (): Alerts =>
  openAlerts({
    ...{ file: join(dir, 'alerts.sqlite'), clock: systemClock, migrationsDir },
    onNotice: (error) => failures.push(error),
    onChange: () => undefined,
    onMessage: () => undefined
  }).alerts

async function notifiersOf(changes: { vault?: SecretVault | null } = {}): Promise<Notifiers> {
  const secrets = await Secrets.open(dir, { vault: changes.vault ?? null, clock: systemClock })
  return new Notifiers({
    ...{ clock: systemClock, log, secrets, records: alerts.records, desktop: null },
    language: () => 'en',
    connection: (id) => (id === 'gone' ? undefined : { id, name: 'orders', environment: 'production' }),
    firing: () => firing,
    onShow: () => undefined,
    onFailure: (error) => failures.push(error),
    onUnreachable: (error) => failures.push(error)
  })
}

const draftOf = (changes: Partial<ParsedNotifierDraft> = {}): ParsedNotifierDraft => ({
  ...{ id: null, name: 'on call', kind: 'webhook', format: 'json', template: '', enabled: true },
  ...{ address, keepAddress: 'session' },
  ...changes
})

const message = (connectionId = 'orders-1') => {
  const firings = [firingOf()]
  const incident = { id: 'i1', connectionId, openedAt: 0, resolvedAt: null, acknowledged: null, firings }
  return { what: 'fired', connectionId, at: 1, incident, firings } as const
}

/** The newest record of each delivery, once none is under way. */
const ended = async (notifiers: Notifiers) => {
  await expect.poll(() => notifiers.deliveries().every(({ status }) => status !== 'sending')).toBe(true)
  return notifiers.deliveries()
}

describe('notifiers', () => {
  it('shows the host of an address and keeps the rest out of list, file and log', async () => {
    const notifiers = await notifiersOf({ vault })
    await notifiers.save(draftOf({ keepAddress: 'vault' }))
    const list = await notifiers.list()
    expect(list).toMatchObject([{ name: 'on call', host: 'hooks.example.com', address: 'vault' }])
    log.write('info', `posted to ${address}`)
    await alerts.stop()
    const kept = ['alerts.sqlite', 'secrets.json', 'taskdeck.log'].map((name) => readFileSync(join(dir, name), 'utf8'))
    expect(JSON.stringify(list) + kept.join('')).not.toContain('canary0815')
    expect(kept[2]).toContain('posted to •••')
  })

  it('keeps the address when a draft names none, in the next run too', async () => {
    const first = await notifiersOf({ vault })
    await first.save(draftOf({ keepAddress: 'vault' }))
    const [{ id = '' } = {}] = await first.list()
    const second = await notifiersOf({ vault })
    await second.save(draftOf({ id, name: 'renamed', address: null }))
    expect(await second.list()).toMatchObject([{ id, name: 'renamed', host: 'hooks.example.com', address: 'vault' }])
  })

  it('says that an address of an earlier session is missing', async () => {
    await (await notifiersOf()).save(draftOf())
    await (await notifiersOf()).save(draftOf({ name: 'off', enabled: false }))
    const next = await notifiersOf()
    expect(await next.list()).toMatchObject([{ address: 'missing' }, { address: 'missing' }])
    await next.announceUnreachable()
    expect(failures).toMatchObject([{ code: 'ADDRESS_MISSING', kind: 'operational', details: { names: 'on call' } }])
    const [{ id = '' } = {}] = await next.list()
    await next.save(draftOf({ id }))
    await next.announceUnreachable()
    expect(failures).toHaveLength(1)
  })

  it('saves nothing without an address, with a bad one, a bad template, or for a vault that is not there', async () => {
    const notifiers = await notifiersOf()
    await expect(notifiers.save(draftOf({ address: null }))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(notifiers.save(draftOf({ address: 'http://example.com/x' }))).rejects.toMatchObject({
      code: 'INVALID_INPUT'
    })
    await expect(notifiers.save(draftOf({ template: '{"a": {{b}}}' }))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(notifiers.save(draftOf({ keepAddress: 'vault' }))).rejects.toMatchObject({ code: 'VAULT_UNAVAILABLE' })
    await expect(notifiers.save(draftOf({ id: 'nobody' }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await notifiers.list()).toEqual([])
  })

  it('leaves a known one as it was when the vault refuses its new address', async () => {
    const notifiers = await notifiersOf()
    await notifiers.save(draftOf())
    const before = await notifiers.list()
    const change = draftOf({
      id: before[0]?.id ?? '',
      name: 'other',
      address: 'https://other.example/x',
      keepAddress: 'vault'
    })
    await expect(notifiers.save(change)).rejects.toMatchObject({ code: 'VAULT_UNAVAILABLE' })
    expect(await notifiers.list()).toEqual(before)
  })

  it('forgets the address with the notifier, and when it becomes one of the desktop', async () => {
    const notifiers = await notifiersOf({ vault })
    await notifiers.save(draftOf({ keepAddress: 'vault' }))
    const [{ id = '' } = {}] = await notifiers.list()
    await notifiers.save(draftOf({ id, kind: 'desktop', address: null }))
    expect(await notifiers.list()).toMatchObject([{ host: null, address: 'none' }])
    expect(JSON.parse(readFileSync(join(dir, 'secrets.json'), 'utf8'))).toMatchObject({ secrets: {} })
    await notifiers.remove(id)
    expect(await notifiers.list()).toEqual([])
    await expect(notifiers.remove(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(notifiers.test(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('tells each that is enabled, and records what came of it', async () => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk)))
      request.on('end', () => response.end())
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const notifiers = await notifiersOf()
    await notifiers.save(draftOf({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x` }))
    await notifiers.save(draftOf({ name: 'off', enabled: false }))
    notifiers.tell(message())
    notifiers.tell(message('gone'))
    expect(await ended(notifiers)).toMatchObject([
      { status: 'delivered', what: 'fired', connectionId: 'orders-1', incidentId: 'i1', tries: 1 }
    ])
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([
      { connection: { name: 'orders' }, incidentId: 'i1' }
    ])
    await notifiers.stop()
    server.close()
  })

  it('tells somebody new of what fires, once, and nobody of the end of what they never heard of', async () => {
    const notifiers = await notifiersOf()
    const desktop = { kind: 'desktop', address: null } as const
    await notifiers.save(draftOf({ ...desktop, name: 'before' }))
    const told = async (): Promise<string[]> => {
      const records = await ended(notifiers)
      const names = new Map((await notifiers.list()).map(({ id, name }) => [id, name]))
      return records
        .map(({ notifierId, incidentId, what }) => `${names.get(notifierId)} ${what} ${incidentId}`)
        .reverse()
    }
    notifiers.tell(message())
    firing = [message()]
    await notifiers.save(draftOf({ ...desktop, name: 'new' }))
    await notifiers.save(draftOf({ ...desktop, name: 'off', enabled: false }))
    const expected = ['before fired i1', 'new fired i1']
    expect(await told()).toEqual(expected)
    const idOf = async (name: string) => (await notifiers.list()).find((one) => one.name === name)?.id ?? ''
    await notifiers.save(draftOf({ ...desktop, id: await idOf('new'), name: 'renamed' }))
    firing = []
    await notifiers.save(draftOf({ ...desktop, id: await idOf('off'), name: 'late' }))
    expect((await told()).length).toBe(2)
    notifiers.tell({ ...message(), what: 'resolved' })
    expect((await told()).slice(2)).toEqual(['before resolved i1', 'renamed resolved i1'])
  })

  it('counts as new whose address is there again, or another one', async () => {
    await (await notifiersOf()).save(draftOf())
    const notifiers = await notifiersOf()
    const [{ id = '' } = {}] = await notifiers.list()
    firing = [message()]
    await notifiers.save(draftOf({ id, address: null, name: 'renamed' }))
    expect(notifiers.deliveries()).toEqual([])
    await notifiers.save(draftOf({ id, address: 'https://127.0.0.1:1/x' }))
    expect(notifiers.deliveries()).toHaveLength(1)
    await notifiers.save(draftOf({ id, address: 'https://127.0.0.1:1/y' }))
    expect(notifiers.deliveries()).toHaveLength(2)
    await notifiers.stop()
  })

  it('says once that a notifier fails, and again after it worked or was changed', async () => {
    const notifiers = await notifiersOf()
    await notifiers.save(draftOf({ name: 'desk', kind: 'desktop', address: null }))
    for (let n = 0; n < 3; n++) notifiers.tell(message())
    await ended(notifiers)
    expect(failures).toMatchObject([{ code: 'DELIVERY_FAILED', kind: 'operational', details: { name: 'desk' } }])
    const [{ id = '' } = {}] = await notifiers.list()
    expect(await notifiers.test(id)).toMatchObject({ status: 'failed', what: 'test' })
    expect(failures).toHaveLength(1)
    await notifiers.save(draftOf({ id, name: 'desk', kind: 'desktop', address: null }))
    notifiers.tell(message())
    await ended(notifiers)
    expect(failures).toHaveLength(2)
  })

  it('says of what an earlier run left on its way that it was not delivered', async () => {
    const unfinished = {
      notifierId: 'n',
      connectionId: null,
      incidentId: null,
      what: 'fired',
      at: 1,
      answer: '',
      ms: null
    } as const
    alerts.records.saveDelivery({ ...unfinished, id: 'd', status: 'sending', tries: 1 })
    const notifiers = await notifiersOf()
    expect(notifiers.deliveries()).toMatchObject([
      { id: 'd', status: 'failed', tries: 1, answer: 'Taskdeck ended before it was delivered.' }
    ])
  })
})
