import { describe, expect, it } from 'vitest'
import type { EndedAttempt, Lanes, RunningAttempt } from '@contract'
import { mergeLook } from './lanes-picture.ts'

const at = 1_770_000_000_000
const ended = (taskId: string, agoMs: number, lookedAt = at): EndedAttempt => ({
  taskId,
  attempt: 1,
  type: 't',
  workerId: 'w',
  startedAt: lookedAt - agoMs - 500,
  endedAt: lookedAt - agoMs,
  outcome: 'SUCCESS',
  errorCode: null
})
const running = (taskId: string): RunningAttempt => ({
  taskId,
  attempt: 1,
  type: 't',
  workerId: 'w',
  startedAt: at - 500,
  leaseUntil: at + 20_000,
  leaseMs: 30_000,
  state: 'RUNNING',
  stateSince: at - 500
})
const lanes = (change: Partial<Lanes>): Lanes => ({
  at,
  ended: [],
  allEnded: true,
  running: [],
  allRunning: true,
  limits: [],
  ...change
})
const minute = { connectionId: 'c', windowMs: 60_000, fromMsAgo: 60_000 }

describe('the picture of the lanes', () => {
  it('knows its whole window when all that ended is told', () => {
    const picture = mergeLook(null, lanes({ ended: [ended('1', 10_000)] }), minute)
    expect(picture).toMatchObject({ at, knownSince: at - 60_000, windowMs: 60_000 })
  })

  it('knows nothing before the oldest attempt when there were more than one look may tell', () => {
    const cut = lanes({ ended: [ended('2', 1_000), ended('1', 9_000)], allEnded: false })
    expect(mergeLook(null, cut, minute).knownSince).toBe(at - 9_000)
  })

  it('takes a newer look in, without the attempts that both have and what has left the window', () => {
    const before = mergeLook(null, lanes({ ended: [ended('2', 1_000), ended('1', 58_000)] }), minute)
    const later = at + 4_000
    const look = lanes({ at: later, ended: [ended('3', 500, later), ended('2', 5_000, later)] })
    const after = mergeLook(before, look, { ...minute, fromMsAgo: 19_000 })
    expect(after.ended.map(({ taskId }) => taskId)).toEqual(['3', '2'])
    expect(after.knownSince).toBe(later - 60_000)
  })

  it('starts anew when a look does not reach back to the end of the one before', () => {
    const before = mergeLook(null, lanes({ ended: [ended('1', 30_000)] }), minute)
    const later = at + 20_000
    const look = lanes({ at: later, ended: [ended('9', 3_000, later)], allEnded: false })
    const after = mergeLook(before, look, { ...minute, fromMsAgo: 35_000 })
    expect(after.ended.map(({ taskId }) => taskId)).toEqual(['9'])
    expect(after.knownSince).toBe(later - 3_000)
  })

  it('does not show as running what has ended meanwhile', () => {
    const look = lanes({ ended: [ended('1', 100)], running: [running('1'), running('2')] })
    expect(mergeLook(null, look, minute).running.map(({ taskId }) => taskId)).toEqual(['2'])
  })

  it('stays as it was when a look was held back, and says why', () => {
    const limits = [{ probe: 'lanes', reason: 'budget' as const, index: null }]
    const before = mergeLook(null, lanes({ ended: [ended('1', 10_000)] }), minute)
    const after = mergeLook(before, lanes({ at: at + 4_000, allEnded: false, limits }), {
      ...minute,
      fromMsAgo: 19_000
    })
    expect(after).toEqual({ ...before, held: limits[0] })
    const first = mergeLook(null, lanes({ allEnded: false, limits }), minute)
    expect(first).toMatchObject({ knownSince: at, ended: [], held: limits[0] })
  })

  it('keeps a bounded number of attempts and forgets the time before them', () => {
    const many = Array.from({ length: 3_000 }, (_, i) => ended(String(10_000 + i), i))
    const before = mergeLook(null, lanes({ ended: many }), minute)
    const later = at + 3_000
    const newer = Array.from({ length: 1_900 }, (_, i) => ended(String(i + 1), i, later))
    const after = mergeLook(before, lanes({ at: later, ended: newer }), { ...minute, fromMsAgo: 18_000 })
    expect(after.ended).toHaveLength(4_000)
    expect(after.knownSince).toBe(after.ended.at(-1)!.endedAt)
  })
})
