import { expect, it } from 'vitest'
import { systemClock, type Clock } from '../kernel/index.ts'
import { MinuteBudget, minuteMs } from './minute-budget.ts'

let now = 0
const clock: Clock = { ...systemClock, monotonic: () => now }
const budget = () => new MinuteBudget(clock, { ms: 1_000, rows: 100_000 })
const usual = new Map([
  ['depth', 60],
  ['workers', 5],
  ['ended', 40]
])

it('holds nothing back while there is enough', () => {
  expect(budget().unaffordable(usual, 1_000)).toEqual(new Set())
})

it('holds the dearest back first, and only as many as must be', () => {
  const spent = budget()
  spent.spend(950, 0)
  expect(spent.unaffordable(usual, 0)).toEqual(new Set(['depth']))
  spent.spend(20, 0)
  expect(spent.unaffordable(usual, 0)).toEqual(new Set(['depth', 'ended']))
  spent.spend(1_000, 0)
  expect(spent.unaffordable(usual, 0)).toEqual(new Set(['depth', 'ended', 'workers']))
})

it('counts rows as well', () => {
  const spent = budget()
  spent.spend(1, 99_000)
  expect(spent.unaffordable(usual, 1_000)).toEqual(new Set())
  expect(spent.unaffordable(usual, 2_000)).toEqual(new Set(['depth']))
})

it('is whole again a minute after it was spent', () => {
  const spent = budget()
  spent.spend(1_000, 100_000)
  now += minuteMs - 1
  expect(spent.unaffordable(usual, 1_000).size).toBe(3)
  now += 1
  expect(spent.unaffordable(usual, 1_000).size).toBe(0)
})
