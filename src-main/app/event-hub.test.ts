import { describe, expect, it } from 'vitest'
import type { AppEvent, WorkerLogLine } from '../contract/index.ts'
import { emptyReading } from '../kernel/reading.fixture.ts'
import { systemClock, type Clock } from '../kernel/index.ts'
import { EventHub } from './event-hub.ts'

const reading = emptyReading()
const tick = (connectionId: string, seq: number): AppEvent => ({
  kind: 'tick',
  tick: { connectionId, seq, reading, points: [] }
})
const line = (message: string): WorkerLogLine => ({ seq: 1, at: 0, level: 'info', message, taskId: null })
/** No pause between two rounds of reading. */
const instant: Clock = { ...systemClock, sleep: () => Promise.resolve() }
const next = async (events: AsyncGenerator<AppEvent, void>): Promise<AppEvent | void> => (await events.next()).value

describe('event hub', () => {
  it('tells a new page the current state before any change', async () => {
    const hub = new EventHub(instant, () => [{ kind: 'connections', connections: [] }, tick('local', 7)])
    const events = hub.subscribe()
    expect(await next(events)).toEqual({ kind: 'connections', connections: [] })
    expect(await next(events)).toEqual(tick('local', 7))
    await events.return()
  })

  it('gives a slow page only the newest tick of each connection', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    for (let seq = 1; seq <= 100; seq++) hub.publish(tick('local', seq))
    hub.publish(tick('other', 3))
    expect(await next(events)).toEqual(tick('local', 100))
    expect(await next(events)).toEqual(tick('other', 3))
    await events.return()
  })

  it('gives a slow page only the newest alerts of each connection, and the last moment to show', async () => {
    const alerts = (connectionId: string, open: number): AppEvent => ({
      kind: 'alerts',
      alerts: { connectionId, rules: [], silences: [], open: Array.from({ length: open }, () => incident) }
    })
    const incident = { id: 'i', connectionId: 'local', openedAt: 0, resolvedAt: null, acknowledged: null, firings: [] }
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    for (let open = 0; open < 3; open++) hub.publish(alerts('local', open))
    hub.publish(alerts('other', 5))
    for (let at = 0; at < 3; at++) hub.publish({ kind: 'show', connectionId: 'local', at })
    expect(await next(events)).toEqual({ kind: 'show', connectionId: 'local', at: 2 })
    expect(await next(events)).toEqual(alerts('local', 2))
    expect(await next(events)).toEqual(alerts('other', 5))
    await events.return()
  })

  it('wakes a waiting page', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    const waiting = next(events)
    hub.publish(tick('local', 1))
    expect(await waiting).toEqual(tick('local', 1))
    await events.return()
  })

  it('joins log lines and keeps the newest 500', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    for (let n = 0; n < 600; n++) hub.publish({ kind: 'workerLog', lines: [line(`line ${n}`)] })
    const event = await next(events)
    expect(event?.kind === 'workerLog' && event.lines.map((l) => l.message)).toEqual(
      Array.from({ length: 500 }, (_, n) => `line ${n + 100}`)
    )
    await events.return()
  })

  it('names changed tasks while they are few, and says "any" when they are many', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    hub.publish({ kind: 'tasksChanged', connectionId: 'local', ids: ['1'] })
    hub.publish({ kind: 'tasksChanged', connectionId: 'local', ids: ['2', '1'] })
    expect(await next(events)).toEqual({ kind: 'tasksChanged', connectionId: 'local', ids: ['1', '2'] })
    for (let id = 1; id <= 201; id++) hub.publish({ kind: 'tasksChanged', connectionId: 'local', ids: [String(id)] })
    hub.publish({ kind: 'tasksChanged', connectionId: 'local', ids: ['5'] })
    expect(await next(events)).toEqual({ kind: 'tasksChanged', connectionId: 'local', ids: [] })
    await events.return()
  })

  it('ends a stream whose page went away while it waited, and forgets it', async () => {
    const hub = new EventHub(instant, () => [])
    const gone = new AbortController()
    const waiting = hub.subscribe(gone.signal).next()
    expect(hub.subscribers).toBe(1)
    gone.abort()
    expect(await waiting).toEqual({ value: undefined, done: true })
    expect(hub.subscribers).toBe(0)
  })

  it('ends all streams when it closes and takes no new ones', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const events = hub.subscribe()
    await next(events)
    const waiting = events.next()
    hub.close()
    expect((await waiting).done).toBe(true)
    expect((await hub.subscribe().next()).done).toBe(true)
  })

  it('refuses more pages than it has room for', async () => {
    const hub = new EventHub(instant, () => [tick('local', 0)])
    const open = Array.from({ length: 32 }, () => hub.subscribe())
    await Promise.all(open.map((events) => events.next()))
    await expect(hub.subscribe().next()).rejects.toMatchObject({ code: 'TOO_MANY_CONNECTIONS' })
    hub.close()
  })

  it('joins events of a high rate for a page that reads as fast as it can, as through a port that never says stop', async () => {
    const rounds: (() => void)[] = []
    const paced: Clock = { ...systemClock, sleep: () => new Promise((resolve) => rounds.push(resolve)) }
    const hub = new EventHub(paced, () => [tick('local', 0)])
    const events = hub.subscribe()
    const read: AppEvent[] = []
    const reading = (async () => {
      for await (const event of events) read.push(event)
    })()
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    await settled()
    for (let seq = 1; seq <= 100; seq++) {
      hub.publish(tick('local', seq))
      await settled()
    }
    expect(read).toEqual([tick('local', 0)])
    rounds.shift()?.()
    await settled()
    expect(read).toEqual([tick('local', 0), tick('local', 100)])
    hub.close()
    rounds.shift()?.()
    await reading
  })
})
