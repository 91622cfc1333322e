import { expect, it } from 'vitest'
import { checkRecovery } from './check-recovery.ts'
import type { Span, WitnessEvent } from './evidence.ts'

/** Of a lease that had run out `leaseOverMs` ago at 100,000. */
const isLate = (leaseOverMs: number, ...outages: Span[]): boolean =>
  checkRecovery({ atMs: 100_000, leaseOverMs } as WitnessEvent, { withinMs: 3_000, outages }) !== undefined

it('counts from the end of the lease', () => {
  expect([isLate(3_000), isLate(3_001)]).toEqual([false, true])
})

it('does not count outages, as far as they lie in between', () => {
  expect(isLate(5_000, { fromMs: 90_000, toMs: 97_000 })).toBe(false)
  expect(isLate(5_000, { fromMs: 90_000, toMs: 96_999 })).toBe(true)
  expect(isLate(5_000, { fromMs: 98_500, toMs: 101_000 }, { fromMs: 96_000, toMs: 97_000 })).toBe(false)
  expect(isLate(5_000, { fromMs: 90_000, toMs: 95_000 }, { fromMs: 100_000, toMs: 109_000 })).toBe(true)
})

it('takes off outages that overlap once', () => {
  const long = { fromMs: 96_000, toMs: 97_500 }
  expect(isLate(5_000, long, long, { fromMs: 96_500, toMs: 97_000 })).toBe(true)
})
