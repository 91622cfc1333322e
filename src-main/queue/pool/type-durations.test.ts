import { describe, expect, it } from 'vitest'
import { TypeDurations } from './type-durations.ts'

const meanAfter = (...ms: readonly number[]): number => {
  const durations = new TypeDurations()
  for (const one of ms) durations.add('t', one)
  return durations.meanMs('t')
}

describe('TypeDurations', () => {
  it('takes a type for slow until it has ended once', () => {
    expect(meanAfter()).toBe(Infinity)
  })

  it('stays near the usual when some take far longer, as on a machine that lets others run', () => {
    const usual = Array.from({ length: 9 }, () => 0.1)
    expect(meanAfter(...usual, 500, ...usual, 500, 500)).toBeLessThan(1)
  })

  it('follows a type that became slow', () => {
    expect(meanAfter(0.1, ...Array.from({ length: 20 }, () => 100))).toBeGreaterThan(10)
  })
})
