import { describe, expect, it } from 'vitest'
import { Pace, type ReadingCost } from './pace.ts'

const paceAfter = (...costs: Partial<ReadingCost>[]): number => {
  const pace = new Pace({ everyMs: 2_000, slowestMs: 30_000 })
  for (const cost of costs) pace.record({ costMs: 5, costRows: null, isServerSlow: false, ...cost })
  return pace.intervalMs
}

describe('the pace of readings', () => {
  it('is the usual one while they are cheap', () => {
    expect(paceAfter({}, {}, {})).toBe(2_000)
  })

  it('keeps what they usually cost below 1 % of the time, whatever a single one took before', () => {
    expect(paceAfter({ costMs: 100 }, { costMs: 100 }, { costMs: 100 })).toBe(10_000)
    expect(paceAfter({ costMs: 900 }, {}, {}, {}, {})).toBe(2_000)
  })

  it('keeps the rows that they make the server read below 50,000 a second', () => {
    const many = { costRows: 250_000 }
    expect(paceAfter(many, many, many)).toBe(5_000)
  })

  it('gives the server rest at once after a sudden dear one, before it is usual', () => {
    expect(paceAfter({}, {}, {}, {}, { costMs: 1_500 })).toBe(15_000)
    expect(paceAfter({}, {}, {}, { costMs: 1_500 }, {})).toBe(2_000)
    // The first reading reads plans and fills caches, too.
    expect(paceAfter({ costMs: 1_500 })).toBe(2_000)
  })

  it('doubles with each reading in a row that found the server slow, up to the slowest, and is as before once it is not', () => {
    const slow = { isServerSlow: true }
    expect(paceAfter(slow)).toBe(4_000)
    expect(paceAfter(slow, slow, slow)).toBe(16_000)
    expect(paceAfter(slow, slow, slow, slow, slow)).toBe(30_000)
    expect(paceAfter(slow, slow, {})).toBe(2_000)
  })
})
