import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  heldOverMs,
  livePace,
  quietMemory,
  ruleMachine,
  unknownEndsMs,
  type RuleMemory,
  valueNow
} from './rule-machine.ts'
import { replay } from './preview.ts'
import { monday, oldestRule as rule, tickMs } from './alerts.fixture.ts'

const [low, between, high] = [10, 75, 200]

/** A rule that is fed; `log` has what it did, with the time since Monday. */
function fed(rules: Partial<typeof rule> = {}) {
  const step = ruleMachine({ ...rule, ...rules })
  const log: string[] = []
  let at = monday
  const fedRule = {
    log,
    memory: quietMemory,
    see(value: number | null, passedMs: number = tickMs) {
      at += passedMs
      const before = fedRule.memory
      const { memory, change } = step(before, { at, value })
      fedRule.memory = memory
      if (change ?? before.phase !== memory.phase) log.push(`${change ?? memory.phase} ${(at - monday) / 1000}`)
      return fedRule
    },
    times(count: number, value: number | null) {
      for (let n = 0; n < count; n++) fedRule.see(value)
      return fedRule
    }
  }
  return fedRule
}

describe('a rule', () => {
  it('is pending above its threshold, fires after its time, and resolves after its time at or below the clear value', () => {
    const { log, memory } = fed().times(3, low).times(6, high).times(4, low)
    expect(log).toEqual(['pending 8', 'fired 18', 'resolved 26'])
    expect(memory.phase).toBe('quiet')
  })

  it('fires at once when it waits for nothing', () => {
    expect(fed({ forMs: 0, clearForMs: 0 }).see(high).see(low).log).toEqual(['fired 2', 'resolved 4'])
  })

  it('is not above at the threshold itself', () => {
    expect(fed({ forMs: 0 }).times(5, rule.above).log).toEqual([])
  })

  it('begins anew when the value was not above once, and forgets the worst of before', () => {
    const once = fed().see(900).times(4, high).see(between).times(5, high)
    expect(once.log).toEqual(['pending 2', 'quiet 12', 'pending 14'])
    expect(once.memory.peak).toBe(high)
    expect(once.see(high).log.at(-1)).toBe('fired 24')
  })

  it('stays what it is between both values', () => {
    const firing = fed().times(6, high).times(100, between)
    expect(firing.memory.phase).toBe('firing')
    expect(firing.times(3, low).see(between).times(3, low).memory.phase).toBe('firing')
    expect(firing.see(low).memory.phase).toBe('quiet')
  })

  it('fires once while its value flaps', () => {
    const flapping = fed().times(6, high)
    for (let n = 0; n < 50; n++) flapping.times(2, low).times(2, high)
    expect(flapping.log).toEqual(['pending 2', 'fired 12'])
    expect(flapping.times(4, low).log.at(-1)).toMatch(/resolved/)
  })

  it('keeps its worst value while it fires', () => {
    expect(fed().times(6, high).see(900).times(3, high).memory).toMatchObject({ peak: 900, lastValue: high })
  })
})

describe('a rule that does not see', () => {
  it('neither fires nor resolves over values that are unknown', () => {
    expect(fed().times(100, null).log).toEqual([])
    const firing = fed().times(6, high).times(100, null)
    expect(firing.memory.phase).toBe('firing')
    expect(valueNow(firing.memory)).toBeNull()
  })

  it('does not count a pause, and goes on after a short one', () => {
    const pending = fed().times(3, high).see(high, 60_000)
    expect(pending.log).toEqual(['pending 2'])
    expect(pending.times(3, high).log).toEqual(['pending 2', 'fired 72'])
  })

  it('begins anew after a long pause', () => {
    const pending = fed()
      .times(5, high)
      .see(high, heldOverMs + 1)
    expect(pending.memory).toMatchObject({ phase: 'pending', aboveMs: 0, since: pending.memory.at })
  })

  it('is not pending any more when its figure stays away for long', () => {
    const readings = heldOverMs / tickMs
    expect(fed().times(2, high).times(readings, null).memory.phase).toBe('pending')
    expect(
      fed()
        .times(2, high)
        .times(readings + 1, null).memory.phase
    ).toBe('quiet')
  })

  it('fires on, however long nothing was read, and resolves only by what is seen after that', () => {
    const firing = fed()
      .times(6, high)
      .see(low, 7 * 86_400_000)
    expect(firing.memory).toMatchObject({ phase: 'firing', clearMs: 0 })
    expect(firing.times(3, low).log).toEqual(['pending 2', 'fired 12', expect.stringMatching(/^resolved/)])
  })

  it('ends when readings come for half an hour without its figure, gaps not counted', () => {
    const firing = fed().times(6, high).see(null, 86_400_000)
    firing.times(unknownEndsMs / tickMs - 1, null)
    expect(firing.memory.phase).toBe('firing')
    expect(firing.see(null).log.at(-1)).toMatch(/^unknown/)
    expect(firing.memory.phase).toBe('quiet')
  })

  it('shows the last value of a figure that is read seldom, and none that is old', () => {
    const shown = (count: number): number | null => valueNow(fed().see(low).times(count, null).memory)
    expect([shown(0), shown(29), shown(30)]).toEqual([low, low, null])
  })

  it('counts over the slowest ticks, and over those of a figure that is read seldom', () => {
    const slow = fed({ forMs: 300_000 })
    for (let n = 0; n < 12; n++) slow.see(high, 30_000)
    // The first distance that is longer than usual ticks is held over, as it could be a pause.
    expect(slow.log).toEqual(['pending 30', 'fired 360'])
  })
})

describe('a rule whose clock jumps', () => {
  it.each([-7_200_000, -20_000, 600_000, 7_200_000])(
    'by %d ms does not fire for it, and fires in its time after it',
    (ms) => {
      const pending = fed().times(4, high).see(high, ms)
      expect(pending.memory.phase).toBe('pending')
      expect(pending.times(4, high).memory.phase).toBe('pending')
      expect(pending.see(high).memory.phase).toBe('firing')
    }
  )

  it('stands still over a small step back', () => {
    const pending = fed().times(5, high).see(high, -3_000).see(high)
    expect(pending.log).toEqual(['pending 2'])
    expect(pending.times(3, high).log).toEqual(['pending 2', 'fired 13'])
  })

  it.each([-7_200_000, 7_200_000])('by %d ms resolves in its time, while it fires', (ms) => {
    const firing = fed().times(6, high).see(low, ms)
    expect(firing.memory.phase).toBe('firing')
    expect(firing.times(2, low).memory.phase).toBe('firing')
    expect(firing.see(low).memory.phase).toBe('quiet')
  })

  it('is not stuck when the clock was a year ahead for one reading', () => {
    const year = 365 * 86_400_000
    const rule = fed().times(2, high).see(high, year).see(high, -year)
    expect(rule.times(5, high).memory.phase).toBe('firing')
    expect(rule.see(low, year).see(low, -year).times(3, low).memory.phase).toBe('quiet')
  })
})

describe('any samples', () => {
  const value = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(low, between, high) },
    { weight: 1, arbitrary: fc.constant(null) }
  )
  const passed = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(1_900, 2_000, 2_300) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -400_000, max: 900_000 }) }
  )
  const runs = fc.array(fc.record({ value, passed, times: fc.integer({ min: 1, max: 12 }) }), { maxLength: 40 })
  const samplesOf = runs.map((parts) => {
    let at = monday
    return parts.flatMap((part) =>
      Array.from({ length: part.times }, () => ({ at: (at += part.passed), value: part.value }))
    )
  })

  it('never fire without being watched above the threshold for all of the time', () => {
    fc.assert(
      fc.property(samplesOf, (samples) => {
        const step = ruleMachine(rule)
        let memory: RuleMemory = quietMemory
        samples.forEach((sample, index) => {
          const { memory: next, change } = step(memory, sample)
          memory = next
          if (change === 'fired') expect(watchedAbove(samples.slice(0, index + 1))).toBeGreaterThanOrEqual(rule.forMs)
        })
      }),
      { numRuns: 500 }
    )
  })

  /** The longest time above that the last samples can stand for: back to the first that was not above. */
  function watchedAbove(samples: readonly { at: number; value: number | null }[]): number {
    const known = samples.filter((sample) => sample.value !== null)
    const first = known.findLastIndex((sample) => (sample.value ?? 0) <= rule.above) + 1
    const mostMs = 3 * livePace.slowestMs
    const above = known.slice(first)
    // Within a stretch each distance counts once, and never a longer one than three of the slowest ticks.
    return above.slice(1).reduce((sum, { at }, index) => {
      const distance = Math.abs(at - (above[index]?.at ?? at))
      return sum + (distance <= mostMs ? distance : 0)
    }, 0)
  }

  it('give firings that do not overlap, and end not before they fired', () => {
    fc.assert(
      fc.property(samplesOf, (samples) => {
        const firings = replay(rule, samples)
        firings.forEach(({ firedAt, until }, index) => {
          expect(until === null ? index : 0).toBe(until === null ? firings.length - 1 : 0)
          if (until !== null) expect(until).toBeGreaterThanOrEqual(firedAt)
        })
      }),
      { numRuns: 200 }
    )
  })
})
