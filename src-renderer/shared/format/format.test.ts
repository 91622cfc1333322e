import { afterEach, describe, expect, it } from 'vitest'
import { bytes, clockOrDay, count, duration, localStamp, percent, shortCount, shortDuration, stamp } from './format.ts'

const plain = (text: string): string => text.replaceAll('\u2009', ' ')

describe('format', () => {
  it('shows what is unknown as an en dash, never as zero', () => {
    for (const format of [count, shortCount, percent, duration, shortDuration, bytes, stamp]) {
      expect(format(null)).toBe('–')
      expect(format(undefined)).toBe('–')
    }
    expect(count(0)).toBe('0')
    expect(percent(Number.NaN)).toBe('–')
  })

  it.each([
    [480, '480 ms'],
    [999.6, '1.0 s'],
    [4_200, '4.2 s'],
    [9_960, '10 s'],
    [41_000, '41 s'],
    [59_700, '1 m 00 s'],
    [1_008_000, '16 m 48 s'],
    [11_100_000, '3 h 05 m'],
    [187_200_000, '2 d 4 h'],
    [-5, '0 ms']
  ])('writes %d ms in two units at most', (ms, text) => {
    expect(plain(duration(ms))).toBe(text)
  })

  it.each([
    [18_462, '18.5k'],
    [999, '999'],
    [1_000, '1k'],
    [99_960, '100k'],
    [999_600, '1M'],
    [1_250_000, '1.3M']
  ])('shortens %d', (n, text) => {
    expect(shortCount(n)).toBe(text)
  })

  it('writes fractions as percent, with a thin space', () => {
    expect(percent(0.2194)).toBe('21.9\u2009%')
    expect(percent(0.1, 0)).toBe('10\u2009%')
  })

  it('groups thousands and names the zone of a moment', () => {
    expect(count(18_462)).toBe('18,462')
    expect(stamp(Date.UTC(2026, 2, 12, 14, 2, 31))).toBe('2026-03-12 14:02:31 UTC')
  })

  it('adds the day to a time that is not of today', () => {
    const now = Date.UTC(2026, 2, 12, 14)
    expect(clockOrDay(now - 3_600_000, now)).toBe('13:00')
    expect(clockOrDay(now - 86_400_000, now)).toBe('03-11 14:00')
  })

  it('writes round durations and sizes briefly', () => {
    expect(plain(shortDuration(300_000))).toBe('5 m')
    expect(shortDuration(0)).toBe('0')
    expect(plain(bytes(1_536))).toBe('1.5 KiB')
    expect(plain(bytes(0))).toBe('0 B')
  })
})

describe('a moment in the reader’s own zone', () => {
  const zone = process.env['TZ']
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  it.each([
    ['UTC', '2026-03-12 14:02:31 GMT'],
    ['Asia/Shanghai', '2026-03-12 22:02:31 GMT+8'],
    ['Asia/Kathmandu', '2026-03-12 19:47:31 GMT+5:45'],
    ['America/St_Johns', '2026-03-12 11:32:31 GMT-2:30']
  ])('of %s is %s', (name, text) => {
    process.env['TZ'] = name
    expect(localStamp(Date.UTC(2026, 2, 12, 14, 2, 31))).toBe(text)
  })
})
