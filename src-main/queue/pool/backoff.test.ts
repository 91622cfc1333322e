import { expect, it } from 'vitest'
import { Backoff } from './backoff.ts'
import { ManualClock } from '../manual-clock.fixture.ts'

it('grows to its cap, never without a share of chance, and starts again after a success', () => {
  const backoff = new Backoff(new ManualClock(), { firstMs: 100, capMs: 1_000 })
  expect([1, 2, 3, 4, 5, 6].map(() => backoff.next())).toEqual([75, 150, 300, 600, 750, 750])
  backoff.reset()
  expect(backoff.next()).toBe(75)
})
