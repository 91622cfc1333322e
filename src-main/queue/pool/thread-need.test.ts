import { describe, expect, it } from 'vitest'
import {
  mayStart,
  needsThread,
  needsThreadAtOnce,
  surplusThreads,
  unneededThreads,
  type ThreadView
} from './thread-need.ts'

const thread = (more: Partial<ThreadView> = {}): ThreadView => ({
  ...{ wasReady: true, retired: false, available: false, idleSince: 0, turnAt: 0 },
  ...more
})
const threads = (count: number, more: Partial<ThreadView> = {}): ThreadView[] =>
  Array.from({ length: count }, () => thread(more))

describe('mayStart', () => {
  it('keeps to the slots, retired threads left out, and to as many at once', () => {
    expect(mayStart(threads(3), { slots: 4, atOnce: 2 })).toBe(true)
    expect(mayStart(threads(4), { slots: 4, atOnce: 2 })).toBe(false)
    expect(mayStart([...threads(3), thread({ retired: true })], { slots: 4, atOnce: 2 })).toBe(true)
    expect(mayStart(threads(2, { wasReady: false }), { slots: 4, atOnce: 2 })).toBe(false)
  })
})

describe('needsThreadAtOnce', () => {
  const pace = (meanMs: number, lagMs = 0) => ({ meanMs, lagMs })

  it('is so for slow and unknown types, and for quick ones up to one a core', () => {
    expect(needsThreadAtOnce(threads(8), pace(5), 2)).toBe(true)
    expect(needsThreadAtOnce(threads(8), pace(Infinity, 1_000), 2)).toBe(true)
    expect(needsThreadAtOnce(threads(1), pace(1), 2)).toBe(true)
    expect(needsThreadAtOnce(threads(2), pace(1), 2)).toBe(false)
  })

  it('is not so for tasks that take as long as a busy machine lets others run', () => {
    expect(needsThreadAtOnce(threads(2), pace(30, 10), 2)).toBe(false)
    expect(needsThreadAtOnce(threads(2), pace(100, 10), 2)).toBe(true)
  })
})

describe('needsThread', () => {
  const now = 60_000
  const quick = { now, queuedAt: now - 1_500, meanMs: 1, lagMs: 0 }

  it('is not so before a task has waited', () => {
    expect(needsThread(threads(2), { ...quick, queuedAt: now - 10, meanMs: Infinity })).toBe(false)
  })

  it('is so for a slow type that waits', () => {
    expect(needsThread(threads(2, { turnAt: now }), { ...quick, meanMs: 5 })).toBe(true)
  })

  it('is so for a quick one when each thread is stuck in one task; starting and retired ones do not count', () => {
    const stuck = thread({ turnAt: now - 21 })
    expect(needsThread([stuck, stuck], quick)).toBe(true)
    expect(needsThread([stuck, thread({ turnAt: now - 10 })], quick)).toBe(false)
    expect(needsThread([stuck, thread({ turnAt: now, retired: true })], quick)).toBe(true)
    expect(needsThread([stuck, thread({ turnAt: now, wasReady: false })], quick)).toBe(true)
    expect(needsThread([thread({ wasReady: false })], quick)).toBe(false)
  })

  it('takes no thread for stuck that a busy machine does not let run', () => {
    const waiting = threads(2, { turnAt: now - 100 })
    expect(needsThread(waiting, { ...quick, lagMs: 30 })).toBe(false)
    expect(needsThread(waiting, { ...quick, lagMs: 10 })).toBe(true)
  })
})

describe('surplusThreads', () => {
  it('are the idle ones above the slots', () => {
    const [idle, busy] = [thread({ available: true }), thread()]
    expect(surplusThreads([busy, idle, busy], 2)).toEqual([idle])
    expect(surplusThreads([busy, busy, busy], 2)).toEqual([])
    expect(surplusThreads([idle, busy], 2)).toEqual([])
  })
})

describe('unneededThreads', () => {
  const now = 100_000
  const idle = { available: true, idleSince: now - 60_001 }
  const left = (count: number, slots: number, cores: number): number =>
    count - unneededThreads(threads(count, idle), { now, slots, cores }).length

  it('leave a few: one a core and a slot, four at most', () => {
    expect([left(10, 10, 2), left(10, 10, 64), left(3, 3, 64), left(2, 1, 64)]).toEqual([2, 4, 3, 1])
  })

  it('are none that are busy or were used within the minute', () => {
    expect(
      unneededThreads([...threads(9), ...threads(9, { ...idle, idleSince: now })], { now, slots: 18, cores: 1 })
    ).toEqual([])
  })
})
