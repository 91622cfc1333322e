import { describe, expect, it } from 'vitest'
import type { ProbeLimit, QueueReading } from '@contract'
import { boundedDepth, boundedText } from './bounded.ts'

type Part = QueueReading['depth'][number]
const cutShort: ProbeLimit = { probe: 'depth', reason: 'budget', index: null }
const reading = (depth: Part[], limits: ProbeLimit[] = []): QueueReading =>
  ({ depth, limits }) as unknown as QueueReading
const text = (depth: Part[], limits?: ProbeLimit[], type?: string): string =>
  boundedText(boundedDepth(reading(depth, limits), type), (value) => `about ${value}`)

describe('a bounded count', () => {
  it('is exact unless something says otherwise', () => {
    expect(
      text([
        { type: 'a', state: 'QUEUED', count: 16_500 },
        { type: 'b', state: 'RUNNING', count: 30 }
      ])
    ).toBe('16,530')
    expect(text([])).toBe('0')
  })

  it('is at least so many when a part was counted up to a limit, or the count was cut short', () => {
    expect(text([{ type: 'a', state: 'QUEUED', count: 50_000, accuracy: 'atLeast' }])).toBe('50,000+')
    expect(text([{ type: 'a', state: 'QUEUED', count: 70 }], [cutShort])).toBe('70+')
  })

  it('is about so many when a part is an estimate', () => {
    const parts: Part[] = [
      { type: 'a', state: 'QUEUED', count: 1_240_000, accuracy: 'about' },
      { type: 'a', state: 'RUNNING', count: 40, accuracy: 'atLeast' }
    ]
    expect(text(parts)).toBe('about 1.2\u2009M')
  })

  it('is unknown, and no zero, when nothing of it was let through', () => {
    expect(text([], [cutShort])).toBe('–')
    expect(text([{ type: 'a', state: 'QUEUED', count: 7 }], [cutShort], 'b')).toBe('–')
    expect(text([{ type: 'a', state: 'QUEUED', count: 7 }], [], 'b')).toBe('0')
  })
})
