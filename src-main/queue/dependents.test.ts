import { expect, it } from 'vitest'
import { taskStates, type AfterFailure } from '../kernel/index.ts'
import { isGoodEnd, startAfter, stepOfDependent, tellDependents, type DependencyEnd } from './dependents.ts'
import type { Recovered } from './task-store.ts'

const waiting = { state: 'CREATED', isHeld: false, waitsFor: 2 } as const
const end = (isGood: boolean, afterFailure: AfterFailure = 'FAIL'): DependencyEnd => ({ isGood, afterFailure })

it('tells what became of dependents once, whatever became of the settlements', () => {
  const fence = { taskId: '1', workerId: 'w', attempt: 1 }
  const dependents: Recovered[] = [{ taskId: '2', type: 't', reason: 'DEPENDENCY', state: 'QUEUED' }]
  const [lost, ended] = [
    { fence, state: undefined },
    { fence, state: 'SUCCESS' as const }
  ]
  expect(tellDependents([lost, ended, ended], dependents)).toEqual([lost, { ...ended, dependents }, ended])
  expect(tellDependents([lost, lost], dependents)).toEqual([{ ...lost, dependents }, lost])
  expect(tellDependents([ended], [])).toEqual([ended])
})

it('takes success, also a partial one, for a good end and nothing else', () => {
  expect(taskStates.filter(isGoodEnd)).toEqual(['SUCCESS', 'PARTIAL_SUCCESS'])
})

it.each([
  ['waits on when others are open', waiting, [end(true)], { does: 'wait', left: 1 }],
  ['is released by the last good end', { ...waiting, waitsFor: 1 }, [end(true)], { does: 'release' }],
  ['is released by several at once', waiting, [end(true), end(true)], { does: 'release' }],
  [
    'stays held after its last good end',
    { ...waiting, isHeld: true },
    [end(true), end(true)],
    { does: 'wait', left: 0 }
  ],
  ['fails with a bad end at once', waiting, [end(false)], { does: 'fail' }],
  ['fails also when it is held', { ...waiting, isHeld: true }, [end(false)], { does: 'fail' }],
  [
    'takes a bad end for a good one if told so',
    { ...waiting, waitsFor: 1 },
    [end(false, 'RELEASE')],
    { does: 'release' }
  ],
  ['fails when one of several ends is bad', waiting, [end(true), end(false)], { does: 'fail' }],
  ['never counts below none', { ...waiting, waitsFor: 0, isHeld: true }, [end(true)], { does: 'wait', left: 0 }]
] as const)('a task that waits %s', (_, task, ends, step) => {
  expect(stepOfDependent(task, ends)).toEqual(step)
})

it.each(taskStates.filter((state) => state !== 'CREATED'))('does nothing to a task in %s', (state) => {
  expect(stepOfDependent({ ...waiting, state }, [end(false), end(true)])).toEqual({ does: 'none' })
})

it('starts by what has ended already', () => {
  expect(startAfter([], 'FAIL')).toEqual({ open: 0, fails: false })
  expect(startAfter(['SUCCESS', 'RUNNING', 'RETRY_WAIT'], 'FAIL')).toEqual({ open: 2, fails: false })
  expect(startAfter(['RUNNING', 'CANCELLED'], 'FAIL')).toEqual({ open: 1, fails: true })
  expect(startAfter(['RUNNING', 'FAILED'], 'RELEASE')).toEqual({ open: 1, fails: false })
})
