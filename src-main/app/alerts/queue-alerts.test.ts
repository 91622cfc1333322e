import { describe, expect, it } from 'vitest'
import type { Alerts, AlertState } from '../../alerting/index.ts'
import type { Audit, Intent } from '../../audit/index.ts'
import type { AppEvent, ConnectionView, LinkState } from '../../contract/index.ts'
import { AppError } from '../../kernel/index.ts'
import { emptyReading } from '../../kernel/reading.fixture.ts'
import { QueueAlerts, type QueueAlertsOptions } from './queue-alerts.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const stateOf = (connectionId: string): AlertState => ({ connectionId, rules: [], open: [], silences: [] })
const tickOf = (connectionId: string) => ({ connectionId, seq: 1, reading: emptyReading(), points: [] })
const viewOf = (id: string, link: LinkState): ConnectionView => ({
  ...{
    id,
    name: id,
    kind: 'mysql',
    environment: 'local',
    accessMode: 'read-only',
    mysql: null,
    profile: null,
    password: 'none'
  },
  ...{ server: null, link }
})

function underTest({ pages = true, audit = 'works' }: { pages?: boolean; audit?: 'works' | 'fails' } = {}) {
  const calls: string[] = []
  const events: AppEvent[] = []
  const intents: Partial<Intent>[] = []
  const outcomes: string[] = []
  const note =
    (name: string) =>
    (...args: unknown[]): void =>
      void calls.push([name, ...args].join(' '))
  const alerts = {
    watch: note('watch'),
    unwatch: note('unwatch'),
    observe: ({ connectionId }: { connectionId: string }) => note('observe')(connectionId),
    forget: note('forget'),
    state: stateOf,
    acknowledge: note('acknowledge'),
    removeRule: () => {
      throw new AppError('NOT_FOUND', 'user', 'no such rule')
    },
    stop: () => Promise.resolve(note('alerts.stop')())
  }
  const log: Pick<Audit, 'intent' | 'outcome'> = {
    intent(intent) {
      if (audit === 'fails') return Promise.reject(new AppError('AUDIT_UNAVAILABLE', 'operational', 'no'))
      intents.push(intent)
      return Promise.resolve({ status: 'new', id: '7' })
    },
    outcome: (_id, text) => Promise.resolve(void outcomes.push(text))
  }
  const queueAlerts = new QueueAlerts({
    alerts: alerts as unknown as Alerts,
    notifiers: { stop: () => Promise.resolve(note('notifiers.stop')()) } as QueueAlertsOptions['notifiers'],
    observations: {} as QueueAlertsOptions['observations'],
    log: {
      bug: (error: unknown) => {
        throw error
      }
    } as unknown as QueueAlertsOptions['log'],
    auditing: { audit: log as Audit, actor: 'ada', onUnrecorded: () => undefined },
    publish: (event) => events.push(event),
    hasPages: () => pages
  })
  return { queueAlerts, calls, events, intents, outcomes }
}

describe('alerts of the connected queues', () => {
  it('expects readings while the link is up, lost or on its way, and not while the user is asked for something', () => {
    const { queueAlerts, calls } = underTest()
    const live = viewOf('a', { status: 'live', lastReadingAt: 1 })
    queueAlerts.follow([live, viewOf('b', { status: 'connecting' })])
    queueAlerts.follow([live, viewOf('b', { status: 'locked', problem: null })])
    queueAlerts.follow([live])
    queueAlerts.follow([])
    expect(calls).toEqual(['watch a', 'watch b', 'unwatch b', 'unwatch a'])
  })

  it('tells several changes of one moment once', async () => {
    const { queueAlerts, events } = underTest()
    for (const id of ['a', 'a', 'b']) queueAlerts.tell(id)
    await settled()
    queueAlerts.tell('a')
    await settled()
    expect(events.map((event) => event.kind === 'alerts' && event.alerts.connectionId)).toEqual(['a', 'b', 'a'])
  })

  it('tells values alone with every fifth reading, and counts from the last time it told', async () => {
    const { queueAlerts, events, calls } = underTest()
    for (let n = 0; n < 4; n++) queueAlerts.take(tickOf('a'))
    queueAlerts.tell('a')
    await settled()
    expect(events).toHaveLength(1)
    for (let n = 0; n < 5; n++) queueAlerts.take(tickOf('a'))
    await settled()
    expect(events).toHaveLength(2)
    expect(calls.filter((call) => call === 'observe a')).toHaveLength(9)
  })

  it('makes no state that no page reads', async () => {
    const { queueAlerts, events } = underTest({ pages: false })
    queueAlerts.tell('a')
    await settled()
    expect(events).toEqual([])
  })

  it('tells nothing of a connection that is gone meanwhile', async () => {
    const { queueAlerts, events, calls } = underTest()
    queueAlerts.tell('a')
    queueAlerts.forget('a')
    await settled()
    expect(events).toEqual([])
    expect(calls).toEqual(['forget a'])
  })

  it('records who changed what before it is done, and what came of it', async () => {
    const { queueAlerts, intents, outcomes, events } = underTest()
    expect(await queueAlerts.acknowledge('a', 'i1', 'looking')).toEqual(stateOf('a'))
    await expect(queueAlerts.removeRule('a', 'r')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await settled()
    expect(intents).toMatchObject([
      { actor: 'ada', connectionId: 'a', action: 'alerts.acknowledge', target: 'i1', reason: 'looking', count: 0 },
      { action: 'alerts.removeRule', target: 'r' }
    ])
    expect(outcomes.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { status: 'done' },
      { status: 'failed', code: 'NOT_FOUND' }
    ])
    expect(events).toHaveLength(1)
  })

  it('changes nothing that cannot be recorded', async () => {
    const { queueAlerts, calls } = underTest({ audit: 'fails' })
    await expect(queueAlerts.acknowledge('a', 'i1', '')).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' })
    expect(calls).toEqual([])
  })

  it('gives up messages before it closes the file that records them', async () => {
    const { queueAlerts, calls } = underTest()
    await queueAlerts.stop()
    expect(calls).toEqual(['notifiers.stop', 'alerts.stop'])
  })
})
