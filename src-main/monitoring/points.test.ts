import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metricNames, queueReading, taskStates } from '../kernel/index.ts'
import type { ProbeName, QueueReading, TypeFlow, WorkerRow } from '../kernel/index.ts'
import { emptyReading, liveWorker } from '../kernel/reading.fixture.ts'
import { pointsOf, typesPerReading, withTypes } from './points.ts'

const flow = (type: string, more: Partial<TypeFlow> = {}): TypeFlow => ({
  type,
  submitted1m: 0,
  finished1m: 0,
  ended5m: 0,
  failed5m: 0,
  retried5m: 0,
  recovered5m: 0,
  duration: null,
  pickup: null,
  ...more
})
const worker = (id: string, more: Partial<WorkerRow>): WorkerRow => liveWorker({ id, ...more })
const reading = emptyReading
const valuesOf = (of: QueueReading, type = ''): Record<string, number> =>
  Object.fromEntries(pointsOf(of).flatMap((p) => (p.type === type ? [[p.metric, p.value]] : [])))

describe('points of a reading', () => {
  it('has zeros for an empty queue, and nothing that an empty queue cannot tell', () => {
    const values = valuesOf(reading())
    expect(values).toMatchObject({ depth: 0, 'depth.QUEUED': 0, oldestMs: 0, in1m: 0, out1m: 0, workersAlive: 0 })
    for (const metric of ['failureRate', 'retryRate', 'duration.p50', 'pickup.p99']) {
      expect(values).not.toHaveProperty([metric])
    }
  })

  it('sums states over types, and keeps the types apart', () => {
    const busy = reading({
      depth: [
        { type: 'mail', state: 'QUEUED', count: 3 },
        { type: 'mail', state: 'RUNNING', count: 1 },
        { type: 'pdf', state: 'QUEUED', count: 4 }
      ],
      oldest: [
        { type: 'mail', taskId: '1', ageMs: 9_000 },
        { type: 'pdf', taskId: '2', ageMs: 4_000 }
      ]
    })
    expect(valuesOf(busy)).toMatchObject({ 'depth.QUEUED': 7, 'depth.RUNNING': 1, depth: 8, oldestMs: 9_000 })
    expect(valuesOf(busy, 'pdf')).toMatchObject({ 'depth.QUEUED': 4, 'depth.RUNNING': 0, depth: 4, oldestMs: 4_000 })
  })

  it('gives rates as fractions of all attempts that ended, not as means of rates', () => {
    const flowing = reading({
      flow: [flow('a', { ended5m: 90, failed5m: 0 }), flow('b', { ended5m: 10, failed5m: 5, retried5m: 2 }), flow('c')]
    })
    expect(valuesOf(flowing)).toMatchObject({ failureRate: 0.05, retryRate: 0.02 })
    expect(valuesOf(flowing, 'b')).toMatchObject({ failureRate: 0.5, retryRate: 0.2 })
    expect(valuesOf(flowing, 'c')).not.toHaveProperty('failureRate')
  })

  it('takes the percentiles of the whole queue from the reading', () => {
    const p = { p50: 1, p95: 2, p99: 3 }
    const measured = reading({ duration: p, flow: [flow('a', { pickup: p })] })
    expect(valuesOf(measured)).toMatchObject({ 'duration.p50': 1, 'duration.p99': 3 })
    expect(valuesOf(measured)).not.toHaveProperty(['pickup.p50'])
    expect(valuesOf(measured, 'a')).toMatchObject({ 'pickup.p95': 2 })
  })

  it('counts a silent worker as known and not alive, one that stopped in order as neither', () => {
    const workers = [
      worker('alive', { lastHeartbeatAt: 70_001 }),
      worker('silent', { lastHeartbeatAt: 70_000 }),
      worker('stopping', { status: 'stopping' }),
      worker('stopped', { status: 'stopped' })
    ]
    expect(valuesOf(reading({ workers }))).toMatchObject({ workersAlive: 2, workersKnown: 3 })
  })

  it('has the use of slots and the slowest claim of live workers, and none of them without live workers', () => {
    const busy = (id: string, more: Partial<WorkerRow>): WorkerRow => worker(id, { slots: 10, running: 4, ...more })
    const workers = [
      busy('a', { running: 9, queued: 9, claimP95Ms: 3 }),
      busy('b', { claimP95Ms: 12 }),
      busy('unmeasured', { running: 2 }),
      busy('silent', { lastHeartbeatAt: 0, running: 10, claimP95Ms: 900 })
    ]
    expect(valuesOf(reading({ workers }))).toMatchObject({ poolUse: 0.5, claimP95: 12 })
    const none = valuesOf(reading({ workers: workers.slice(3) }))
    for (const metric of ['poolUse', 'claimP95']) expect(none).not.toHaveProperty([metric])
  })

  it('has the load of the server as far as it tells, late schedules, and what watching cost', () => {
    const server = { sessions: 30, mostSessions: 120, threadsRunning: 4, rowLockWaits: 1, rowLockTimeMs: 2 }
    const told = valuesOf(reading({ server, schedulesLate: 2, costMs: 7, costRows: 900 }))
    const figures = { databaseUse: 0.25, threadsRunning: 4, schedulesLate: 2, monitorMs: 7, monitorRows: 900 }
    expect(told).toMatchObject(figures)
    const silent = valuesOf(reading())
    for (const metric of Object.keys(figures)) if (metric !== 'monitorMs') expect(silent).not.toHaveProperty([metric])
  })

  it.each<[ProbeName, readonly string[]]>([
    ['depth', ['depth', 'depth.QUEUED']],
    ['oldest', ['oldestMs']],
    ['submitted', ['in1m']],
    ['finished', ['out1m']],
    ['ended', ['failureRate', 'retryRate', 'recovered5m', 'ended5m']],
    ['retries', ['retryRate', 'recovered5m']],
    ['durations', ['duration.p50', 'pickup.p99']],
    ['workers', ['workersAlive', 'workersKnown', 'poolUse']]
  ])('has no zero in place of what the cost guard held back: %s', (probe, metrics) => {
    const p = { p50: 1, p95: 2, p99: 3 }
    const known = { flow: [flow('a', { ended5m: 3 })], duration: p, pickup: p, workers: [worker('a', {})] }
    const held = reading({ ...known, limits: [{ probe, reason: 'budget', index: null }] })
    for (const type of ['', 'a'])
      for (const metric of metrics) expect(valuesOf(held, type)).not.toHaveProperty([metric])
    for (const metric of metrics) expect(valuesOf(reading(known))).toHaveProperty([metric])
    expect(valuesOf(held)).toHaveProperty(['monitorMs'])
  })

  it('bounds the types, keeping those with the most tasks', () => {
    const depth = Array.from({ length: 500 }, (_, n) => ({ type: `t${n}`, state: 'QUEUED' as const, count: n }))
    const points = pointsOf(reading({ depth }))
    expect(new Set(points.map(({ type }) => type)).size).toBe(typesPerReading + 1)
    expect(valuesOf(reading({ depth }), 't499')).toMatchObject({ depth: 499 })
  })

  it('has finite values, fractions for rates, and each series once, whatever the reading', () => {
    const type = fc.constantFrom('a', 'b', 'c', '')
    const count = fc.nat()
    const attempts = fc.tuple(fc.nat(50), fc.nat(50), fc.nat(50))
    const any = fc.record({
      depth: fc.array(fc.record({ type, state: fc.constantFrom(...taskStates), count })),
      oldest: fc.array(fc.record({ type, taskId: fc.constant('1'), ageMs: count })),
      flow: fc.array(
        fc.record({ type, submitted1m: count, attempts }).map((made) => {
          const [failed5m, retried5m, rest] = made.attempts
          const ended5m = failed5m + retried5m + rest
          return flow(made.type, { submitted1m: made.submitted1m, failed5m, retried5m, ended5m })
        })
      )
    })
    fc.assert(
      fc.property(any, (more) => {
        const of = reading(more)
        expect(queueReading.safeParse(of).success).toBe(true)
        const points = pointsOf(of)
        expect(new Set(points.map((p) => `${p.metric} ${p.type}`)).size).toBe(points.length)
        for (const { metric, value } of points) {
          expect(metricNames).toContain(metric)
          expect(Number.isFinite(value)).toBe(true)
          if (metric.endsWith('Rate')) expect(value).toBeLessThanOrEqual(1)
        }
      })
    )
  })
})

describe('points of types that are asked for', () => {
  const others = Array.from({ length: typesPerReading }, (_, n) => ({
    type: `t${n}`,
    state: 'QUEUED' as const,
    count: 9
  }))
  const of = (more: QueueReading, type: string): Record<string, number> =>
    Object.fromEntries(
      withTypes(more, pointsOf(more), [type]).flatMap((p) => (p.type === type ? [[p.metric, p.value]] : []))
    )

  it('are zeros of an idle type, but for what nothing cannot tell', () => {
    expect(of(reading({ depth: others }), 'idle')).toEqual({
      ...{ 'depth.CREATED': 0, 'depth.QUEUED': 0, 'depth.RETRY_WAIT': 0, 'depth.PAUSED': 0, 'depth.RUNNING': 0 },
      ...{ 'depth.CANCEL_REQUESTED': 0, depth: 0, oldestMs: 0, in1m: 0, out1m: 0, recovered5m: 0, ended5m: 0 }
    })
  })

  it('are its own figures where it is not among the busiest', () => {
    const depth = [...others, { type: 'rare', state: 'QUEUED' as const, count: 1 }]
    expect(valuesOf(reading({ depth }), 'rare')).toEqual({})
    expect(of(reading({ depth }), 'rare')).toMatchObject({ depth: 1 })
  })

  it('are not there for what was held back', () => {
    const limits = [{ probe: 'oldest' as const, reason: 'budget' as const, index: null }]
    const values = of(reading({ depth: others, limits }), 'idle')
    expect(values).toMatchObject({ depth: 0, ended5m: 0 })
    expect(values).not.toHaveProperty('oldestMs')
  })

  it('are the same as before for a type that has points', () => {
    const busy = reading({ depth: [{ type: 'mail', state: 'QUEUED', count: 3 }] })
    expect(withTypes(busy, pointsOf(busy), ['mail'])).toEqual(pointsOf(busy))
  })
})
