import { expect, it } from 'vitest'
import { flowOf, percentilesOf } from './reading-figures.ts'

const row = (type: string, outcome: string, count: number, reachedMs: number) => ({ type, outcome, count, reachedMs })

it('percentiles are values that were measured', () => {
  expect(percentilesOf([])).toBeNull()
  expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 })
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect(percentilesOf(values)).toEqual({ p50: 50, p95: 95, p99: 99 })
})

it('flow names the types that have any, with how their attempts ended', () => {
  const ended = [
    row('b', 'FAILED', 1, 5),
    row('b', 'RETRY', 2, 5),
    row('b', 'HANDED_BACK', 4, 5),
    row('c', 'HANDED_BACK', 1, 5)
  ]
  const samples = [{ type: 'b', durationMs: 7, pickupMs: 3 }]
  const [a, b, ...others] = flowOf(
    { submitted: [row('b', '', 1, 5), row('a', '', 3, 5)], finished: [], ended },
    samples
  )
  expect(a).toMatchObject({ type: 'a', submitted1m: 3, ended5m: 0, duration: null })
  expect(b).toMatchObject({ type: 'b', submitted1m: 1, ended5m: 3, failed5m: 1, retried5m: 2, recovered5m: 0 })
  expect(b).toMatchObject({ duration: { p50: 7 }, pickup: { p50: 3 } })
  expect(others).toEqual([])
})
