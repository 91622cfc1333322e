import { expect, it } from 'vitest'
import { DepthSum, FlowWindow, mostFlowRows } from './reading-figures.ts'

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
