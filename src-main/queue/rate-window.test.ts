import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roomInRate, takingsOf, takingsText, withinPeriod, type Taking } from './rate-window.ts'

const rate = { count: 10, periodMs: 1_000 }
const second = 1_000_000

describe('a rate', () => {
  it('lets a burst through, and the next tokens a period later', () => {
    expect(roomInRate([], 5 * second, rate)).toBe(10)
    const takings = [{ at: 5 * second, count: 10 }]
    expect(roomInRate(takings, 5 * second + 999_999, rate)).toBe(0)
    expect(roomInRate(takings, 6 * second, rate)).toBe(10)
  })

  it('is never exceeded in any window, and is nearly reached by a claimer that takes what it can', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 50, maxLength: 200 })
    const property = fc.property(steps, (pauses) => {
      let now = 1_700_000_000 * second
      let kept: Taking[] = []
      const taken: Taking[] = []
      for (const pause of pauses) {
        now += pause
        const count = Math.min(3, roomInRate(kept, now, rate))
        kept = withinPeriod(count > 0 ? [...kept, { at: now, count }] : kept, now, rate)
        if (count > 0) taken.push({ at: now, count })
        expect(kept.length).toBeLessThanOrEqual(33)
      }
      for (const { at: start } of taken) {
        const inWindow = taken.filter(({ at }) => at >= start && at < start + second)
        expect(inWindow.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(rate.count)
      }
    })
    fc.assert(property, { numRuns: 100 })
    let now = 1_700_000_000 * second
    let kept: Taking[] = []
    let total = 0
    for (let step = 0; step < 20_000; step++, now += 1_000) {
      const count = Math.min(1, roomInRate(kept, now, rate))
      total += count
      kept = withinPeriod(count > 0 ? [...kept, { at: now, count }] : kept, now, rate)
    }
    // 20 s at 10 a second.
    expect(total).toBeGreaterThanOrEqual(190)
    expect(total).toBeLessThanOrEqual(210)
  })

  it('does not wait longer than a period when the clock was set back', () => {
    const takings = [{ at: 3_600 * second, count: 10 }]
    const kept = withinPeriod(takings, 10 * second, rate)
    expect(roomInRate(kept, 11 * second, rate)).toBe(10)
  })

  it('is kept as text, and reads what is none as nothing taken', () => {
    const takings = [
      { at: 1_700_000_000_000_001, count: 3 },
      { at: 1_700_000_000_900_000, count: 1 }
    ]
    expect(takingsOf(takingsText(takings))).toEqual(takings)
    expect([null, '', '{}', '[1]', '[["a",1]]'].map(takingsOf)).toEqual([[], [], [], [], []])
  })
})
