import { describe, expect, it } from 'vitest'
import type { CapacityInputs } from './model.ts'
import { waitCurve, waitScale } from './wait-curve.ts'

const inputs: CapacityInputs = {
  workers: 4,
  slots: 1,
  durationMs: 1_000,
  batch: 1,
  claimMs: 10,
  arrivals: 2,
  attempts: 1,
  waiting: 0,
  taken: { slots: 0, rate: 0 }
}

describe('the curve of waits', () => {
  it('falls with more workers, and has no end where the queue grows', () => {
    const points = waitCurve(inputs, [4])
    expect(points.slice(0, 2).map(({ waitMs }) => waitMs)).toEqual([Infinity, Infinity])
    const waits = points.map(({ waitMs }) => waitMs)
    expect(waits).toEqual([...waits].sort((a, b) => b - a))
  })

  it('has every mark, and room on both sides, in few points', () => {
    const points = waitCurve(inputs, [7, 911, null])
    expect(points.map(({ workers }) => workers)).toEqual(expect.arrayContaining([7, 911]))
    expect(points.length).toBeLessThan(60)
    expect(points.at(-1)?.workers).toBeGreaterThan(1_200)
  })

  it('is empty when nothing can be said', () => expect(waitCurve({ ...inputs, durationMs: null }, [4])).toEqual([]))
})

it('the scale has whole decades around the curve and the target', () => {
  expect(
    waitScale(
      [
        { workers: 1, waitMs: Infinity },
        { workers: 2, waitMs: 40 }
      ],
      5_000
    )
  ).toEqual([10, 10_000])
  expect(waitScale([{ workers: 2, waitMs: 10 }], 10)).toEqual([10, 1_000])
})
