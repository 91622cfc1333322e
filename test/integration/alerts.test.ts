import { createServer, type Server } from 'node:http'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DesktopNotifier } from '../../src-main/app/index.ts'
import type { AlertRule, AlertState } from '../../src-main/contract/index.ts'
import { openAudit } from '../../src-main/audit/index.ts'
import { StopStack, systemClock } from '../../src-main/kernel/index.ts'
import { startApp, type AppUnderTest } from './app-under-test.ts'

let ends: StopStack
beforeEach(() => {
  ends = new StopStack()
})
afterEach(() => ends.stop())

async function start(options: Parameters<typeof startApp>[0] = {}): Promise<AppUnderTest> {
  const started = await startApp(options)
  ends.add(() => started.app.stop())
  return started
}

interface Received {
  readonly bodies: {
    readonly event: string
    readonly title: string
    readonly incidentId: string | null
    readonly connection: unknown
  }[]
  readonly address: string
  /** What comes next is answered with this status. */
  answer: number
}

/** A real receiver, whose address holds a secret. */
async function receiver(): Promise<Received> {
  const received: Received = { bodies: [], address: '', answer: 200 }
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      received.bodies.push(JSON.parse(body) as Received['bodies'][number])
      response.writeHead(received.answer).end(`you asked ${request.url}`)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  ends.add(() => void server.close())
  const { port } = server.address() as AddressInfo
  return Object.assign(received, {
    address: `http://127.0.0.1:${port}/canary/CANARY-0815-path?token=CANARY-4711-token`
  })
}

const connectionId = 'local'
const slowly = { timeout: 20_000, interval: 500 }
const quick = { forMs: 0, clearForMs: 0, repeatMs: null, enabled: true }

/** The oldest waiting task fires a moment after a task has come that nobody takes. */
async function watchOldest({ client }: AppUnderTest): Promise<AlertRule> {
  const rule = { signal: 'oldestMs' as const, above: 100, clearAt: 50, ...quick }
  const { rules } = await client.alerts.saveRule({ connectionId, ruleId: 'default-oldestMs', rule })
  const saved = rules.find((one) => one.rule.id === 'default-oldestMs')
  if (!saved) throw new Error('the rule was not saved')
  return saved.rule
}

async function waitingTask({ client }: AppUnderTest): Promise<string> {
  return (await client.tasks.submit({ connectionId, task: { type: 'nobody', payload: '{}' } })).firstId
}

const take = ({ client }: AppUnderTest, taskId: string) =>
  client.tasks.act({ connectionId, taskId, action: 'cancel', requestId: crypto.randomUUID() })

const until = async ({ event }: AppUnderTest, fits: (alerts: AlertState) => boolean): Promise<AlertState> =>
  (await event('alerts', ({ alerts }) => alerts.connectionId === connectionId && fits(alerts))).alerts
const fired = (under: AppUnderTest): Promise<AlertState> => until(under, ({ open }) => open.length > 0)
const over = (under: AppUnderTest): Promise<AlertState> => until(under, ({ open }) => open.length === 0)

describe('alerts through the contract', () => {
  it('every connection has its rules from the start, and a page is told their state first', async () => {
    const under = await start()
    const { alerts } = await under.event('alerts')
    expect(alerts.rules.map(({ rule }) => rule.signal)).toContain('blindMs')
    expect(alerts.rules.every(({ rule }) => rule.isDefault && rule.enabled)).toBe(true)
    expect(alerts).toMatchObject({ connectionId, open: [], silences: [] })
  })

  it('fires, is acknowledged, ends and stays in the list of incidents', async () => {
    const under = await start()
    const { client } = under
    await watchOldest(under)
    const taskId = await waitingTask(under)
    const { open } = await fired(under)
    const [incident] = open
    expect(incident).toMatchObject({
      connectionId,
      resolvedAt: null,
      acknowledged: null,
      firings: [{ signal: 'oldestMs' }]
    })
    const id = incident?.id ?? ''
    const acknowledged = await client.alerts.acknowledge({ connectionId, incidentId: id, note: 'on it' })
    expect(acknowledged.open).toMatchObject([{ id, acknowledged: { note: 'on it', by: expect.any(String) as string } }])
    await take(under, taskId)
    await over(under)
    const now = systemClock.now()
    const listed = await client.alerts.incidents({ connectionId, from: now - 600_000, to: now + 60_000 })
    expect(listed).toMatchObject([{ id, resolvedAt: expect.any(Number) as number, acknowledged: { note: 'on it' } }])
    expect(await client.alerts.incidents({ connectionId, from: 0, to: 1_000 })).toEqual([])
    const { rules } = await client.alerts.get({ connectionId })
    expect(rules.find(({ rule }) => rule.signal === 'oldestMs')).toMatchObject({ fired7d: 1, state: 'quiet' })
  })

  it('a rule of one type ends when nothing of it waits any more, and is not unknown while its type is idle', async () => {
    const under = await start()
    const { client } = under
    const rule = { signal: 'oldestMs' as const, type: 'nobody', above: 100, clearAt: 50, ...quick }
    await client.alerts.saveRule({ connectionId, ruleId: null, rule })
    const isIdle = ({ alerts }: { alerts: AlertState }): boolean =>
      alerts.rules.some((one) => one.rule.type === 'nobody' && one.state === 'quiet' && one.value === 0)
    await under.event('alerts', isIdle)
    const taskId = await waitingTask(under)
    const { open } = await fired(under)
    await take(under, taskId)
    await under.event('alerts', isIdle)
    const listed = await client.alerts.incidents({ connectionId, from: 0, to: systemClock.now() + 60_000 })
    const ended = listed.find(({ id }) => id === open[0]?.id)?.firings
    expect(ended).toMatchObject([{ type: 'nobody', resolvedAt: expect.any(Number) as number }])
    expect(ended?.[0]).not.toHaveProperty('endedBy')
  })

  it('previews over stored history when a rule would have fired, and saves nothing', async () => {
    const under = await start()
    const { client } = under
    const taskId = await waitingTask(under)
    await under.event('tick', ({ tick }) => (tick.reading.oldest[0]?.ageMs ?? 0) > 1_000)
    await take(under, taskId)
    await under.event('tick', ({ tick }) => tick.reading.oldest.length === 0)
    const rule = { signal: 'oldestMs' as const, above: 500, clearAt: 100, ...quick }
    const preview = () => client.alerts.preview({ connectionId, rule, rangeMs: 600_000 })
    // The step in which it ends holds both figures: the next one says that it has.
    await expect
      .poll(async () => (await preview()).firings.map(({ until: end }) => end !== null), slowly)
      .toEqual([true])
    const { values, times, firings } = await preview()
    expect(values).toHaveLength(times.length)
    // A step of a week is 15 minutes; what is known of it is a minute, told as finely as readings came.
    const week = await client.alerts.preview({ connectionId, rule, rangeMs: 7 * 86_400_000 })
    expect(week.stepMs).toBeLessThanOrEqual(30_000)
    expect(week.firings).toHaveLength(1)
    expect(firings[0]?.peak).toBeGreaterThan(500)
    expect((await client.alerts.get({ connectionId })).rules.every(({ fired7d }) => fired7d === 0)).toBe(true)
  })

  it('sets a default back, removes a rule of one’s own, and refuses what makes no sense', async () => {
    const under = await start()
    const { client } = under
    const before = (await client.alerts.get({ connectionId })).rules[0]?.rule
    await watchOldest(under)
    const reset = await client.alerts.removeRule({ connectionId, ruleId: 'default-oldestMs' })
    expect(reset.rules[0]?.rule).toEqual(before)
    const own = { signal: 'growth' as const, type: 'mail', above: 5, clearAt: 1, ...quick }
    const { rules } = await client.alerts.saveRule({ connectionId, ruleId: null, rule: own })
    const ruleId = rules.find(({ rule }) => rule.type === 'mail')?.rule.id ?? ''
    expect((await client.alerts.removeRule({ connectionId, ruleId })).rules).toHaveLength(rules.length - 1)
    const refused = [
      client.alerts.saveRule({ connectionId, ruleId: null, rule: { ...own, clearAt: 9 } }),
      client.alerts.saveRule({ connectionId, ruleId: null, rule: { ...own, signal: 'poolUse' } })
    ]
    for (const call of refused) await expect(call).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const unknown = [
      client.alerts.removeRule({ connectionId, ruleId }),
      client.alerts.acknowledge({ connectionId, incidentId: 'x' }),
      client.alerts.unsilence({ connectionId, silenceId: 'x' }),
      client.alerts.get({ connectionId: 'gone' }),
      client.alerts.incidents({ connectionId: 'gone', from: 0, to: 1 }),
      client.alerts.preview({ connectionId: 'gone', rule: own, rangeMs: 60_000 }),
      client.alerts.testNotifier({ notifierId: 'x' })
    ]
    for (const call of unknown) await expect(call).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } })
  })

  it('tells nobody under a silence, and those who should know afterwards', async () => {
    const under = await start()
    const { client } = under
    const hook = await receiver()
    await client.alerts.saveNotifier({ name: 'hook', kind: 'webhook', address: hook.address })
    await watchOldest(under)
    const silenced = await client.alerts.silence({ connectionId, ruleId: null, durationMs: 60_000, reason: 'moving' })
    expect(silenced.silences).toMatchObject([{ reason: 'moving', ruleId: null }])
    const taskId = await waitingTask(under)
    expect((await fired(under)).open).toMatchObject([{ firings: [{ silenced: true }] }])
    await take(under, taskId)
    await over(under)
    expect(await client.alerts.deliveries()).toEqual([])
    const silenceId = silenced.silences[0]?.id ?? ''
    expect((await client.alerts.unsilence({ connectionId, silenceId })).silences).toEqual([])
  })

  it('records each change with who made it', async () => {
    const under = await start()
    const { client, app, dataDir } = under
    const hook = await receiver()
    await watchOldest(under)
    await client.alerts.silence({ connectionId, ruleId: null, durationMs: 60_000, reason: 'moving' })
    const [notifier] = await client.alerts.saveNotifier({ name: 'hook', kind: 'webhook', address: hook.address })
    await client.alerts.removeNotifier({ notifierId: notifier?.id ?? '' })
    await app.stop()
    const migrationsDir = join(import.meta.dirname, '../../migrations/cache')
    const { audit } = openAudit({ file: join(dataDir, 'audit.sqlite'), clock: systemClock, migrationsDir })
    ends.add(() => audit.close())
    const entries = await audit.list(10)
    expect(
      entries.map(({ action, reason, outcome }) => [action, reason, JSON.parse(outcome ?? '')] as unknown)
    ).toEqual([
      ['alerts.removeNotifier', '', { status: 'done' }],
      ['alerts.saveNotifier', '', { status: 'done' }],
      ['alerts.silence', 'moving', { status: 'done' }],
      ['alerts.saveRule', '', { status: 'done' }]
    ])
    expect(JSON.stringify(entries)).not.toContain('CANARY')
  })
})

describe('those who are told', () => {
  it('hear of an incident and of its end, and the address is seen nowhere', async () => {
    const under = await start()
    const { client, app, dataDir } = under
    const hook = await receiver()
    const seen: unknown[] = []
    const all = new AbortController()
    const watched = (async () => {
      for await (const event of await client.app.events(undefined, { signal: all.signal })) seen.push(event)
    })().catch(() => undefined)
    seen.push(await client.alerts.saveNotifier({ name: 'hook', kind: 'webhook', address: hook.address }))
    await watchOldest(under)
    const taskId = await waitingTask(under)
    const { open } = await fired(under)
    await take(under, taskId)
    await over(under)
    await expect.poll(() => hook.bodies.map(({ event }) => event)).toEqual(['fired', 'resolved'])
    expect(hook.bodies[0]?.connection).toEqual({ id: 'local', name: 'Local queue', environment: 'local' })
    expect(hook.bodies[0]).toMatchObject({
      incidentId: open[0]?.id,
      title: expect.stringContaining('Local queue') as string
    })
    hook.answer = 404
    const [notifier] = await client.alerts.notifiers()
    seen.push(await client.alerts.testNotifier({ notifierId: notifier?.id ?? '' }))
    seen.push(
      await client.alerts
        .saveNotifier({ name: 'bad', kind: 'webhook', address: 'CANARY://x' })
        .catch((error: unknown) => error)
    )
    const deliveries = await client.alerts.deliveries()
    seen.push(deliveries, await client.alerts.notifiers(), await client.app.info())
    expect(deliveries).toMatchObject([
      { what: 'test', status: 'failed', answer: 'HTTP 404: you asked •••' },
      { what: 'resolved', status: 'delivered' },
      { what: 'fired', status: 'delivered', incidentId: open[0]?.id, tries: 1 }
    ])
    all.abort()
    await watched
    await app.stop()
    expect(JSON.stringify(seen)).not.toContain('CANARY')
    for (const file of filesIn(dataDir)) expect(readFileSync(file).includes('CANARY'), file).toBe(false)
  })

  it('are known to fail: a notice says so, and the delivery why', async () => {
    const under = await start()
    await under.client.alerts.saveNotifier({ name: 'desk', kind: 'desktop' })
    await watchOldest(under)
    await waitingTask(under)
    const { problem } = await under.event('notice', (notice) => notice.problem.code === 'DELIVERY_FAILED')
    expect(problem).toMatchObject({ kind: 'operational', details: { name: 'desk' } })
    expect(await under.client.alerts.deliveries()).toMatchObject([{ status: 'failed', what: 'fired' }])
    expect((await under.client.app.info()).notices).toContainEqual(problem)
  })

  it('see it on the desktop in their language; a click shows the moment', async () => {
    const shown: { title: string; onClick: () => void }[] = []
    const desktop: DesktopNotifier = {
      show: ({ title }, onClick) => Promise.resolve(void shown.push({ title, onClick }))
    }
    const under = await start({ desktop })
    await under.client.app.saveSettings({ theme: 'system', language: 'zh-CN' })
    await under.client.alerts.saveNotifier({ name: 'desk', kind: 'desktop' })
    await watchOldest(under)
    await waitingTask(under)
    const { open } = await fired(under)
    await expect.poll(() => shown.length).toBe(1)
    expect(shown[0]?.title).toBe('[Taskdeck] 告警：最久等待的任务 · Local queue')
    const moment = under.event('show')
    // A page that opens later is not sent anywhere: it has to listen already.
    await under.event('connections')
    shown[0]?.onClick()
    const { connectionId: id, at } = await moment
    expect(id).toBe(connectionId)
    expect(Math.abs(at - (open[0]?.firings[0]?.firedAt ?? 0))).toBeLessThan(1_000)
  })
})

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
}
