import { describe, expect, it } from 'vitest'
import type { AlertState, ConnectionView } from '../../contract/index.ts'
import type { QueueReading } from '../../kernel/index.ts'
import { emptyReading, liveWorker } from '../../kernel/reading.fixture.ts'
import { pointsOf } from '../../monitoring/points.ts'
import { openAppMetrics } from './app-metrics.ts'
import type { SeenQueue } from './seen-queue.ts'
import { connectionView } from './outside.fixture.ts'

const seen = (reading: QueueReading | null, changes: Partial<SeenQueue> = {}, view = connectionView()): SeenQueue => ({
  view,
  tick: reading ? { connectionId: view.id, seq: 1, reading, points: pointsOf(reading) } : undefined,
  ageMs: reading ? 1_500 : null,
  alerts: undefined,
  ...changes
})

async function rowsOf(...queues: SeenQueue[]): Promise<string[]> {
  const text = await openAppMetrics(() => queues, '1.2.3').text()
  return text.split('\n').filter((row) => row !== '' && !row.startsWith('#'))
}

const busy = emptyReading({
  depth: [
    { type: 'mail', state: 'QUEUED', count: 50_000, accuracy: 'atLeast' },
    { type: 'mail', state: 'RUNNING', count: 4 }
  ],
  oldest: [{ type: 'mail', taskId: '7', ageMs: 12_500 }],
  flow: [
    {
      ...{ type: 'mail', submitted1m: 30, finished1m: 20, ended5m: 100, failed5m: 25, retried5m: 10, recovered5m: 2 },
      duration: null,
      pickup: null
    }
  ],
  duration: { p50: 100, p95: 200, p99: 300 },
  workers: [liveWorker(), liveWorker({ id: 'silent', lastHeartbeatAt: 0 })],
  costMs: 12,
  limits: [
    { probe: 'schedules', reason: 'budget', index: null },
    { probe: 'server', reason: 'schema', index: null }
  ]
})

describe('the metrics of the app', () => {
  it('show depth with its accuracy, ages, rates and workers of a connection', async () => {
    const of = (name: string, labels: string, value: string): string =>
      `taskdeck_${name}{connection="Orders"${labels}} ${value}`
    const rows = await rowsOf(seen(busy))
    expect(rows.join()).not.toContain('reason="schema"')
    expect(rows).toEqual(
      expect.arrayContaining([
        'taskdeck_app_info{version="1.2.3"} 1',
        of('connection_up', '', '1'),
        of('queue_reading_age_seconds', '', '1.5'),
        of('queue_tasks', ',type="mail",state="QUEUED",accuracy="at_least"', '50000'),
        of('queue_tasks', ',type="mail",state="RUNNING",accuracy="exact"', '4'),
        of('queue_tasks', ',type="mail",state="PAUSED",accuracy="exact"', '0'),
        of('queue_oldest_waiting_seconds', ',type="mail"', '12.5'),
        of('queue_submitted_per_minute', ',type="mail"', '30'),
        of('queue_finished_per_minute', ',type="mail"', '20'),
        of('queue_failure_ratio', '', '0.25'),
        of('queue_type_retry_ratio', ',type="mail"', '0.1'),
        of('queue_attempt_duration_seconds', ',quantile="0.95"', '0.2'),
        of('queue_attempt_duration_seconds', ',quantile="0.5"', '0.1'),
        of('queue_recovered_leases', '', '2'),
        of('queue_workers_alive', '', '1'),
        of('queue_workers_known', '', '2'),
        of('monitoring_limited_probes', ',reason="budget"', '1')
      ])
    )
  })

  it('leave out what is unknown: no rate without an attempt, no percentile without a duration', async () => {
    const rows = await rowsOf(seen(emptyReading()))
    for (const unknown of ['failure_ratio', 'retry_ratio', 'duration', 'pickup', 'sessions', 'schedules_late'])
      expect(rows.filter((row) => row.includes(unknown))).toEqual([])
  })

  it.each<[string, ConnectionView['link'], string[]]>([
    ['connecting', { status: 'connecting' }, []],
    ['without its password', { status: 'locked', problem: null }, ['taskdeck_connection_up{connection="Orders"} 0']],
    [
      'without its tables',
      { status: 'schema', schema: 'missing', version: 0, latest: 1 },
      ['taskdeck_connection_up{connection="Orders"} 0']
    ]
  ])('say nothing about the queue of a connection that is %s', async (_how, link, expected) => {
    const rows = await rowsOf(seen(null, {}, connectionView({ link })))
    expect(rows).toEqual(['taskdeck_app_info{version="1.2.3"} 1', ...expected])
  })

  it('do not show the last figures of a connection that was lost as those of now', async () => {
    const problem = { code: 'CONNECTION_LOST', kind: 'operational' as const, message: '', details: {} }
    const link = { status: 'lost' as const, since: 1, nextTryAt: 2, failures: 3, problem }
    expect(await rowsOf(seen(busy, {}, connectionView({ link })))).toEqual([
      'taskdeck_app_info{version="1.2.3"} 1',
      'taskdeck_connection_up{connection="Orders"} 0',
      'taskdeck_queue_reading_age_seconds{connection="Orders"} 1.5'
    ])
  })

  it('do not show a reading that is old though the link is said to live', async () => {
    const rows = await rowsOf(seen(busy, { ageMs: 3_600_000 }))
    expect(rows).toContain('taskdeck_queue_reading_age_seconds{connection="Orders"} 3600')
    expect(rows.filter((row) => row.startsWith('taskdeck_queue_tasks'))).toEqual([])
  })

  it('say which alerts fire, and nothing about rules whose figure is unknown', async () => {
    const rule = (signal: string, state: string) => ({ rule: { signal, type: '' }, state })
    const alerts = {
      rules: [
        rule('oldestMs', 'quiet'),
        rule('oldestMs', 'firing'),
        rule('growth', 'pending'),
        rule('poolUse', 'unknown')
      ]
    } as unknown as AlertState
    const rows = await rowsOf(seen(busy, { alerts }))
    expect(rows.filter((row) => row.startsWith('taskdeck_alert'))).toEqual([
      'taskdeck_alert_firing{connection="Orders",signal="oldestMs",type=""} 1',
      'taskdeck_alert_firing{connection="Orders",signal="growth",type=""} 0'
    ])
  })

  it('show what fired as firing until it is known to be over, also while the link is down', async () => {
    const rule = { rule: { signal: 'oldestMs', type: '' }, state: 'firing', value: null }
    const alerts = { rules: [rule] } as unknown as AlertState
    const down = connectionView({ link: { status: 'locked', problem: null } })
    const rows = await rowsOf(seen(null, { alerts }, down))
    expect(rows).toContain('taskdeck_connection_up{connection="Orders"} 0')
    expect(rows).toContain('taskdeck_alert_firing{connection="Orders",signal="oldestMs",type=""} 1')
  })

  it('keep two connections of one name apart', async () => {
    const rows = await rowsOf(seen(null), seen(null, {}, connectionView({ id: 'b' })))
    expect(rows).toContain('taskdeck_connection_up{connection="Orders (orders)"} 1')
    expect(rows).toContain('taskdeck_connection_up{connection="Orders (b)"} 1')
  })

  it('have a bound: of 5,000 types the first hundred and `other` for the rest, also when they come and go', async () => {
    const depthOf = (from: number): QueueReading['depth'] =>
      Array.from({ length: 2_500 }, (_, n) => ({ type: `type-${from + n}`, state: 'QUEUED' as const, count: 2 }))
    let reading = emptyReading({ depth: depthOf(0) })
    const page = openAppMetrics(() => [seen(reading)], '1')
    const queued = async (): Promise<string[]> =>
      (await page.text()).split('\n').filter((row) => row.startsWith('taskdeck_queue_tasks') && row.includes('QUEUED'))
    const first = await queued()
    expect(first).toHaveLength(101)
    expect(first.at(-1)).toMatch(/type="other",.* 4800$/)
    reading = emptyReading({ depth: depthOf(2_500) })
    expect(await queued()).toEqual([expect.stringMatching(/type="other",.* 5000$/)])
    expect((await page.text()).split('\n').length).toBeLessThan(800)
  })
})
