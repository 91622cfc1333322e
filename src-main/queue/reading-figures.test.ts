import { expect, it } from 'vitest'
import { DepthSum, flowOf, FlowWindow, mostFlowRows, percentilesOf } from './reading-figures.ts'

const row = (type: string, outcome: string, count: number, reachedMs: number) => ({ type, outcome, count, reachedMs })

it('a window that was read whole is counted as it is', () => {
  const window = new FlowWindow([row('a', 'RETRY', 3, 10), row('a', 'FAILED', 2, 20), row('b', 'FAILED', 1, 5)], 5)
  expect(window.count('a')).toBe(5)
  expect(window.count('a', (outcome) => outcome === 'FAILED')).toBe(2)
  expect(window.count('c')).toBe(0)
})

it('a busier window is extrapolated from the time that the newest rows span', () => {
  const half = mostFlowRows / 2
  const window = new FlowWindow([row('a', '', half, 15_000), row('b', '', half, 14_000)], 1)
  expect(window.count('a')).toBe(half * 4)
})

it('percentiles are values that were measured', () => {
  expect(percentilesOf([])).toBeNull()
  expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 })
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect(percentilesOf(values)).toEqual({ p50: 50, p95: 95, p99: 99 })
})

it('a sum of counts is as good as its worst part', () => {
  const sum = new DepthSum()
  sum.add('a', 'QUEUED', 2)
  sum.add('a', 'QUEUED', 3)
  sum.add('b', 'QUEUED', 5)
  sum.add('b', 'QUEUED', 50_000, 'atLeast')
  sum.add('c', 'QUEUED', 50_000, 'atLeast')
  sum.add('c', 'QUEUED', 900_000, 'about')
  sum.add('c', 'RETRY_WAIT', 1)
  expect(sum.depth).toEqual([
    { type: 'a', state: 'QUEUED', count: 5 },
    { type: 'b', state: 'QUEUED', count: 50_005, accuracy: 'atLeast' },
    { type: 'c', state: 'QUEUED', count: 950_000, accuracy: 'about' },
    { type: 'c', state: 'RETRY_WAIT', count: 1 }
  ])
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
