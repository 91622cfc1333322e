import { describe, expect, it } from 'vitest'
import type { History, HistoryQuery } from '../history/index.ts'
import { emptyReading } from '../kernel/reading.fixture.ts'
import { systemClock } from '../kernel/index.ts'
import { Observations } from './observations.ts'

const now = 1_770_000_000_000
/** The database's clock is ahead of ours. */
const skewMs = 5_000

function watched(): { observations: Observations; asked: HistoryQuery[] } {
  const asked: HistoryQuery[] = []
  const history: History = {
    append: () => Promise.resolve(),
    query: (_id, query) => {
      asked.push(query)
      return Promise.resolve({ times: [], stepMs: 1_000, series: [] })
    },
    lastReading: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(),
    close: () => Promise.resolve()
  }
  const observations = new Observations(history, { ...systemClock, now: () => now })
  observations.take({
    connectionId: 'local',
    seq: 7,
    reading: emptyReading({ at: now + skewMs }),
    points: []
  })
  return { observations, asked }
}

describe('a snapshot', () => {
  it("ends now, on the database's clock", async () => {
    const { observations, asked } = watched()
    const { from, to, seq } = await observations.snapshot('local', { rangeMs: 60_000, maxPoints: 100 })
    expect({ from, to, seq }).toEqual({ from: now + skewMs - 60_000, to: now + skewMs, seq: 7 })
    expect(asked).toEqual([{ from, to, maxPoints: 100 }])
  })

  it('of some types asks history for no others', async () => {
    const { observations, asked } = watched()
    await observations.snapshot('local', { rangeMs: 60_000, maxPoints: 100, types: ['mail'] })
    expect(asked).toMatchObject([{ types: ['mail'] }])
  })

  it('of an earlier time ends where it was asked to, and never in the future', async () => {
    const { observations } = watched()
    const endAt = now - 86_400_000
    const day = await observations.snapshot('local', { rangeMs: 60_000, maxPoints: 100, endAt })
    expect([day.from, day.to]).toEqual([endAt - 60_000, endAt])
    const ahead = await observations.snapshot('local', { rangeMs: 60_000, maxPoints: 100, endAt: now + 3_600_000 })
    expect(ahead.to).toBe(now + skewMs)
  })
})
