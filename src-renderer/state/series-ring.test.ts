import { describe, expect, it } from 'vitest'
import type { Point, QueueReading, Tick } from '@contract'
import { appendTick, knownSince, pointsOf, ringOf, ringSince, valuesOf, type SeriesRing } from './series-ring.ts'

const reading = (at: number): QueueReading => ({
  at,
  depth: [],
  oldest: [],
  flow: [],
  duration: null,
  pickup: null,
  workers: [],
  server: null,
  schedulesLate: null,
  costMs: 1,
  costRows: null,
  limits: []
})
const tick = (seq: number, at: number, points: Point[]): Tick => ({
  connectionId: 'local',
  seq,
  reading: reading(at),
  points
})
const depth = (value: number, type = ''): Point => ({ metric: 'depth', type, value })

function ring(times: number[], values: (number | null)[], rangeMs = 60_000): SeriesRing {
  const snapshot = { connectionId: 'local', seq: 1, from: 0, to: 60_000, stepMs: 10_000, times, reading: null }
  return ringOf({ ...snapshot, series: [{ metric: 'depth', type: '', values }] }, rangeMs)
}

describe('appendTick', () => {
  it('puts the newest values at the end and drops what left the range', () => {
    const next = appendTick(ring([0, 10_000, 20_000], [1, 2, 3]), tick(2, 66_000, [depth(9)]))
    expect(pointsOf(next, 'depth')).toEqual([
      [10_000, 2],
      [20_000, 3],
      [30_000, null],
      [66_000, 9]
    ])
    expect(next.seq).toBe(2)
  })

  it('replaces the values of the step that it falls into, so that a long range keeps its resolution', () => {
    const next = appendTick(ring([0, 10_000], [1, 2]), tick(2, 14_000, [depth(5)]))
    expect(pointsOf(next, 'depth')).toEqual([
      [0, 1],
      [14_000, 5]
    ])
  })

  it('marks time without readings as unknown instead of joining its ends', () => {
    const next = appendTick(ring([0, 10_000], [1, 2]), tick(2, 56_000, [depth(5)]))
    expect(valuesOf(next, 'depth')).toEqual([1, 2, null, 5])
    const slow = appendTick(ring([0, 10_000], [1, 2]), tick(2, 50_000, [depth(5)]))
    expect(valuesOf(slow, 'depth')).toEqual([1, 2, 5])
  })

  it('keeps a series that starts late or stops early aligned to the times', () => {
    const late = appendTick(ring([0, 10_000], [1, 2]), tick(2, 20_000, [depth(7, 'mail')]))
    expect(valuesOf(late, 'depth', 'mail')).toEqual([null, null, 7])
    expect(valuesOf(late, 'depth')).toEqual([1, 2, null])
    for (const values of late.values.values()) expect(values).toHaveLength(late.times.length)
  })

  it('forgets a type when all of it has left the range', () => {
    let grown = ring([0], [1])
    for (let n = 1; n <= 100; n++) grown = appendTick(grown, tick(n, n * 10_000, [depth(n), depth(n, `type ${n}`)]))
    expect([...grown.values.keys()]).toHaveLength(grown.times.length + 1)
  })

  it('ignores the points of a reading that is older than what it has', () => {
    const old = appendTick(ring([0, 10_000], [1, 2]), tick(2, 5_000, [depth(9)]))
    expect(valuesOf(old, 'depth')).toEqual([1, 2])
  })
})

describe('ringSince', () => {
  it('keeps times and values aligned', () => {
    expect(pointsOf(ringSince(ring([0, 10_000, 20_000], [1, 2, 3]), 5_000), 'depth')).toEqual([
      [10_000, 2],
      [20_000, 3]
    ])
  })
  it('is told where history starts', () => {
    expect(knownSince(ring([0, 10_000, 20_000], [null, 2, 3]))).toBe(10_000)
    expect(knownSince(ring([0], [null]))).toBeNull()
  })
})

describe('rates of too few attempts', () => {
  const rates = (failureRate: (number | null)[], ended5m: number[]): SeriesRing =>
    ringOf(
      {
        ...{ connectionId: 'local', seq: 1, from: 0, to: 60_000, stepMs: 10_000, reading: null },
        times: ended5m.map((_ended, i) => i * 10_000),
        series: [
          { metric: 'failureRate', type: 'mail', values: failureRate },
          { metric: 'ended5m', type: 'mail', values: ended5m }
        ]
      },
      60_000
    )
  const rate = (metric: 'failureRate' | 'retryRate' | 'ended5m', value: number): Point => ({
    metric,
    type: 'mail',
    value
  })

  it('are not known, so that none climbs while its window drains; that nothing failed is', () => {
    const draining = rates([0.05, 0.5, 1, 0, null], [100, 10, 5, 3, 0])
    expect(valuesOf(draining, 'failureRate', 'mail')).toEqual([0.05, 0.5, null, 0, null])
  })

  it('are not known of the newest reading either', () => {
    const busy = rates([0.05], [100])
    const next = appendTick(busy, tick(2, 10_000, [rate('failureRate', 1), rate('retryRate', 0.5), rate('ended5m', 2)]))
    expect(valuesOf(next, 'failureRate', 'mail')).toEqual([0.05, null])
    expect(valuesOf(next, 'retryRate', 'mail')).toEqual([])
    const enough = appendTick(busy, tick(2, 10_000, [rate('failureRate', 1), rate('ended5m', 10)]))
    expect(valuesOf(enough, 'failureRate', 'mail')).toEqual([0.05, 1])
  })
})
