import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layers, planBuckets, ruleOf } from './layers.ts'

const now = Date.UTC(2026, 0, 5, 12, 0, 7)
const hour = 3_600_000

describe('buckets', () => {
  it('cover the range with at most the points asked for, aligned to their step', () => {
    const range = fc.record({
      from: fc.integer({ min: now - 120 * 24 * hour, max: now }),
      length: fc.integer({ min: 0, max: 120 * 24 * hour }),
      maxPoints: fc.integer({ min: 10, max: 2000 })
    })
    fc.assert(
      fc.property(range, ({ from, length, ...rest }) => {
        const to = from + length
        const { first, stepMs, count, layer } = planBuckets({ from, to, now, ...rest })
        expect(count).toBeLessThanOrEqual(rest.maxPoints)
        expect(first % stepMs).toBe(0)
        expect(first).toBeLessThan(from + stepMs)
        expect(first + count * stepMs).toBeGreaterThan(to)
        expect(first + (count - 1) * stepMs).toBeLessThanOrEqual(to)
        expect(stepMs).toBeGreaterThanOrEqual(layers[layer]?.stepMs ?? Infinity)
      })
    )
  })

  it('are no finer than what is kept that far back', () => {
    const step = (hoursBack: number): number =>
      planBuckets({
        from: now - hoursBack * hour,
        to: now - hoursBack * hour + hour,
        now,
        maxPoints: 2000
      }).stepMs
    expect([1, 7, 24 * 8].map(step)).toEqual([2_000, 60_000, 900_000])
  })

  it('are minutes for the last six hours in 360 points', () => {
    const six = planBuckets({ from: now - 6 * hour, to: now, now, maxPoints: 360 })
    expect(six).toMatchObject({ stepMs: 60_000, count: 360 })
  })
})

describe('rules', () => {
  it('keep the last of counts, the highest of ages and the average of the rest', () => {
    expect(['depth', 'depth.QUEUED', 'workersAlive', 'recovered5m'].map(ruleOf)).toEqual(Array(4).fill('last'))
    expect(['oldestMs', 'ended5m'].map(ruleOf)).toEqual(['max', 'max'])
    expect(['failureRate', 'in1m', 'pickup.p95'].map(ruleOf)).toEqual(Array(3).fill('average'))
  })
})
