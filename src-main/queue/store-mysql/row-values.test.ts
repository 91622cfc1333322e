import { describe, expect, it } from 'vitest'
import { compareIds, count, epochMs, rowId, time, utcText } from './row-values.ts'

describe('times', () => {
  it('are UTC whatever the zone of this process', () => {
    expect(epochMs('2026-03-29 01:30:00.123456')).toBe(Date.UTC(2026, 2, 29, 1, 30, 0, 123))
    expect(utcText(Date.UTC(2026, 9, 25, 1, 30, 0, 7))).toBe('2026-10-25 01:30:00.007')
    expect(epochMs(utcText(253_402_300_799_999))).toBe(253_402_300_799_999)
  })

  it('beyond what a column holds are cut to it: a filter may name any', () => {
    expect([1e300, 300_000_000_000_000].map(utcText)).toEqual(Array(2).fill('9999-12-31 23:59:59.999'))
    expect(utcText(-1e15)).toBe('1970-01-01 00:00:00.000')
  })

  it('of zero dates lie far back: one such row must not take the whole list away', () => {
    expect(time({ at: '0000-00-00 00:00:00.000000' }, 'at')).toBe(Date.parse('0000-01-01T00:00:00Z'))
    expect(time({ at: '2026-00-00 12:00:00.000000' }, 'at')).toBe(Date.UTC(2026, 0, 1, 12))
  })

  it('that are no times are an error, never a number', () => {
    expect(() => time({ at: 'yesterday' }, 'at')).toThrow(/Column at/)
    expect(() => count({ n: null }, 'n')).toThrow(/Column n/)
  })
})

describe('ids', () => {
  it('are exact above 2^53, and what no row can have is none', () => {
    expect(rowId('9023393775362049')).toBe(9023393775362049n)
    expect(rowId('18446744073709551615')).toBe(18446744073709551615n)
    for (const id of ['18446744073709551616', '-1', '1.5', 'x', '']) expect(rowId(id)).toBeUndefined()
  })

  it('sort by value', () => {
    expect(['10', '9', '100'].sort(compareIds)).toEqual(['9', '10', '100'])
  })
})
