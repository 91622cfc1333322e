import { describe, expect, it } from 'vitest'
import type { QueueReading, TypeFlow, WorkerRow } from '@contract'
import { seriesKey, type SeriesRing } from '@/state/series-ring.ts'
import { clinicTypes, readingAt } from '@/testing/demo-queue.ts'
import { estimatedMean, liveNumbers, loadOf, typeLoads } from './live.ts'

const at = 1_000_000_000
const base: QueueReading = {
  ...readingAt({ types: [], failingSinceMs: null, workers: 2, silent: 0, gap: null, startedAt: at }, at),
  at
}
const flow = (type: string, change: Partial<TypeFlow> = {}): TypeFlow => ({
  type,
  submitted1m: 60,
  finished1m: 60,
  ended5m: 300,
  failed5m: 0,
  retried5m: 0,
  recovered5m: 0,
  duration: { p50: 1_000, p95: 1_000, p99: 1_000 },
  pickup: null,
  ...change
})
const reading = (change: Partial<QueueReading>): QueueReading => ({ ...base, ...change })

/** `running` slots in use of a type ('' is all), every 10 s of the last `spanMs`. */
function ring(running: Record<string, number>, spanMs = 290_000): SeriesRing {
  const times = Array.from({ length: spanMs / 10_000 + 1 }, (_, i) => at - spanMs + i * 10_000)
  const values = Object.entries(running).map(([type, value]): [string, number[]] => [
    seriesKey('depth.RUNNING', type),
    times.map(() => value)
  ])
  return { connectionId: 'c', rangeMs: 900_000, stepMs: 10_000, seq: 1, times, values: new Map(values) }
}

describe('the mean duration', () => {
  it('is measured: slots in use by the attempts that ended', () => {
    // 2 slots in use, one attempt a second: each holds its slot for 2 s.
    expect(loadOf(reading({ flow: [flow('a')] }), ring({ '': 2, a: 2 }), 'a')).toMatchObject({
      durationMs: 2_000,
      durationSource: 'measured',
      needed: 2
    })
  })

  it('is estimated while too little of that is known, or too few attempts ended', () => {
    const estimated = { durationMs: 1_000, durationSource: 'estimated' }
    expect(loadOf(reading({ flow: [flow('a')] }), null, 'a')).toMatchObject(estimated)
    expect(loadOf(reading({ flow: [flow('a')] }), ring({ a: 2 }, 100_000), 'a')).toMatchObject(estimated)
    expect(loadOf(reading({ flow: [flow('a', { ended5m: 19 })] }), ring({ a: 2 }), 'a')).toMatchObject(estimated)
  })

  it('of all types weighs them by their attempts', () => {
    const slow = flow('b', { ended5m: 100, duration: { p50: 5_000, p95: 5_000, p99: 5_000 } })
    expect(loadOf(reading({ flow: [flow('a'), slow] }), null, null).durationMs).toBe(2_000)
  })

  it('is above the median when some take much longer', () => {
    expect(estimatedMean({ duration: { p50: 100, p95: 100, p99: 100 } })).toBe(100)
    expect(estimatedMean({ duration: { p50: 100, p95: 1_000, p99: 4_000 } })).toBeCloseTo(266, 0)
    expect(estimatedMean({ duration: null })).toBeNull()
  })

  it('is unknown when nothing ended, and then nothing follows', () => {
    const silent = reading({ flow: [flow('a', { ended5m: 0, duration: null })] })
    expect(loadOf(silent, ring({ a: 2 }), 'a')).toMatchObject({
      durationMs: null,
      durationSource: 'unknown',
      attempts: null,
      needed: null
    })
  })
})

describe('live numbers', () => {
  const worker = (change: Partial<WorkerRow>): WorkerRow => ({ ...base.workers[0]!, lastHeartbeatAt: at, ...change })

  it('count workers that take new tasks, with the slots and claims of these', () => {
    const workers = [
      worker({ slots: 10, claimP50Ms: 2 }),
      worker({ slots: 20, claimP50Ms: 4 }),
      worker({ status: 'quiet', slots: 99 }),
      worker({ lastHeartbeatAt: at - 60_000, slots: 99 })
    ]
    expect(liveNumbers(reading({ workers }), null, null).inputs).toMatchObject({
      workers: 2,
      slots: 15,
      batch: 15,
      claimMs: 7
    })
  })

  it('know no slots without workers, and no claim that none has made', () => {
    expect(liveNumbers(reading({ workers: [] }), null, null).inputs).toMatchObject({
      workers: 0,
      slots: null,
      claimMs: null
    })
    expect(liveNumbers(reading({ workers: [worker({ claimP50Ms: null })] }), null, null).inputs.claimMs).toBeNull()
  })

  it('count the attempts that a task takes', () => {
    const flows = [flow('a', { ended5m: 300, retried5m: 90, recovered5m: 10 })]
    expect(liveNumbers(reading({ flow: flows }), null, null).inputs.attempts).toBe(1.5)
  })

  it('say when what waits is only known to be at least so much', () => {
    const depth: QueueReading['depth'] = [
      { type: 'a', state: 'QUEUED', count: 50_000, accuracy: 'atLeast' },
      { type: 'a', state: 'RUNNING', count: 3 },
      { type: 'a', state: 'PAUSED', count: 9 }
    ]
    expect(loadOf(reading({ depth }), null, null)).toMatchObject({ waiting: 50_000, waitingIsBounded: true, busy: 3 })
  })

  it('take no retry for a backlog before its time, and every one while its type is behind', () => {
    const depth: QueueReading['depth'] = [
      { type: 'a', state: 'QUEUED', count: 2 },
      { type: 'a', state: 'RETRY_WAIT', count: 40 }
    ]
    expect(loadOf(reading({ depth }), null, null)).toMatchObject({ waiting: 2, retrying: 40 })
    const oldest = [{ type: 'a', taskId: '1', ageMs: 600_000 }]
    expect(loadOf(reading({ depth, oldest }), null, null)).toMatchObject({ waiting: 42, retrying: 0 })
  })

  it('leave to one type what the others do not need', () => {
    const flows = [flow('a'), flow('b', { submitted1m: 180 })]
    expect(liveNumbers(reading({ flow: flows }), null, 'a').inputs.taken).toEqual({ slots: 3, rate: 3 })
    expect(liveNumbers(reading({ flow: flows }), null, null).inputs.taken).toEqual({ slots: 0, rate: 0 })
    const unknown = flow('b', { ended5m: 0, duration: null })
    expect(liveNumbers(reading({ flow: [flow('a'), unknown] }), null, 'a').inputs.taken).toEqual({
      slots: null,
      rate: null
    })
  })
})

it('lists the types that need most slots first', () => {
  const scene = { types: clinicTypes, failingSinceMs: null, workers: 12, silent: 0, gap: null, startedAt: at }
  const loads = typeLoads(readingAt(scene, at), null)
  expect(loads).toHaveLength(clinicTypes.length)
  const needs = loads.map(({ needed }) => needed ?? -1)
  expect(needs).toEqual([...needs].sort((a, b) => b - a))
})
