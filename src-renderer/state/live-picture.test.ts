import { describe, expect, it } from 'vitest'
import type { QueueReading } from '@contract'
import type { SeriesRing } from './series-ring.ts'
import { seriesKey } from './series-ring.ts'
import { livePicture, patienceOf } from './live-picture.ts'

const now = 10_000_002
const hourMs = 3_600_000
function ringOf(times: number[]): SeriesRing {
  const values = new Map([[seriesKey('depth'), times.map(() => 1)]])
  return { connectionId: 'c', rangeMs: hourMs, stepMs: 10_000, seq: 1, times, values }
}
const question = { ring: ringOf([now - hourMs, now - 9_000]), reading: null, rangeMs: hourMs, stale: false, now }

describe('a live picture', () => {
  it('ends with what was read last, also where its step began before', () => {
    const reading = { at: now - 3_000 } as QueueReading
    expect(livePicture(question)).toEqual({ from: now - hourMs, to: now - 9_000 })
    expect(livePicture({ ...question, reading })).toEqual({ from: now - hourMs, to: now - 3_000 })
  })

  it('ends now when it is old, in steps, so that its age is seen', () => {
    const silent = { ...question, ring: ringOf([now - hourMs, now - 46_000]) }
    expect(livePicture(silent).to).toBe(10_000_000)
    expect(livePicture({ ...question, stale: true }).to).toBe(10_000_000)
  })

  it('is as wide as what is known, and five minutes at least', () => {
    expect(livePicture({ ...question, ring: ringOf([now - 900_000, now]) })).toEqual({ from: now - 900_000, to: now })
    expect(livePicture({ ...question, ring: ringOf([now - 2_000, now]) }).from).toBe(now - 300_000)
    expect(livePicture({ ...question, ring: null })).toEqual({ from: now - 300_000, to: now })
  })
})

it('waits for the next value as long as the sampler may take, or three steps', () => {
  expect(patienceOf(null)).toBe(45_000)
  expect(patienceOf({ ...ringOf([]), stepMs: 60_000 })).toBe(180_000)
})
