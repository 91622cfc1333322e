import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timeTicks } from './time-ticks.ts'

const midnight = Date.UTC(2026, 11, 1)
const minute = 60_000
const texts = (from: number, to: number): string[] =>
  timeTicks(from, to).map((at) => new Date(at).toISOString().slice(5, 16))

it('has labels on both sides of midnight', () => {
  expect(texts(midnight - 45 * minute, midnight + 15 * minute)).toEqual([
    '11-30T23:20',
    '11-30T23:30',
    '11-30T23:40',
    '11-30T23:50',
    '12-01T00:00',
    '12-01T00:10'
  ])
  expect(texts(midnight - 24 * 60 * minute, midnight)).toEqual([
    '11-30T04:00',
    '11-30T08:00',
    '11-30T12:00',
    '11-30T16:00',
    '11-30T20:00'
  ])
})

it('has some labels and not too many, in order and inside, whatever the range', () => {
  const range = fc.record({
    from: fc.integer({ min: 0, max: midnight }),
    span: fc.integer({ min: 20_000, max: 400 * 86_400_000 })
  })
  fc.assert(
    fc.property(range, ({ from, span }) => {
      const ticks = timeTicks(from, from + span)
      expect(ticks.length).toBeGreaterThanOrEqual(1)
      expect(ticks.length).toBeLessThanOrEqual(7)
      for (const at of ticks) expect(at > from && at < from + span).toBe(true)
      expect(ticks).toEqual([...ticks].sort((a, b) => a - b))
    })
  )
})

it('ends for a range of nothing', () => {
  expect(timeTicks(5, 5).length).toBeLessThanOrEqual(1)
})
