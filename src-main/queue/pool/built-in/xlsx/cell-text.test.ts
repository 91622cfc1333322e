import { describe, expect, it } from 'vitest'
import { dateText, formatOf, isoDateText, numberText, unescapedText } from './cell-text.ts'

describe('formatOf', () => {
  it.each([
    [0, undefined, 'number'],
    [10, undefined, 'number'],
    [14, undefined, 'date'],
    [22, undefined, 'date'],
    [31, undefined, 'date'],
    [46, undefined, 'elapsed'],
    [49, undefined, 'number'],
    [164, 'dd.mm.yyyy', 'date'],
    [164, '[$-409]h:mm AM/PM', 'date'],
    [164, 'yyyy"年"m"月"', 'date'],
    [164, '[h]:mm:ss', 'elapsed'],
    [164, 'General', 'number'],
    [164, '#,##0.00 "days"', 'number'],
    [164, '[Red]-0.0\\d', 'number'],
    [164, '_($* #,##0.00_)', 'number'],
    [164, '0.00E+00', 'number'],
    [14, '0.00', 'number']
  ])('takes format %i %j as a %s', (id, code, format) => expect(formatOf(id, code)).toBe(format))
})

describe('numberText', () => {
  it.each([
    ['12.5', '12.5'],
    ['0.30000000000000004', '0.3'],
    ['12345678901234567890', '12345678901234567890'],
    ['1E+21', '1000000000000000000000'],
    ['-1.5E-7', '-0.00000015'],
    ['2.5e2', '250'],
    ['-0.0', '0'],
    ['what', 'what'],
    ['1e999', '1e999']
  ])('writes %s as %s', (raw, text) => expect(numberText(raw)).toBe(text))
})

describe('dateText', () => {
  it.each([
    ['46081', '2026-02-28'],
    ['46081.604224537034', '2026-02-28 14:30:05'],
    ['46081.6042245', '2026-02-28 14:30:04.997'],
    ['46081.999999999', '2026-03-01'],
    ['0.5', '12:00:00'],
    ['1', '1900-01-01'],
    ['61', '1900-03-01'],
    ['2958465', '9999-12-31'],
    ['2958465.999988426', '9999-12-31 23:59:59'],
    ['2932897.5', '9929-12-30 12:00:00'],
    ['0x10', '0x10'],
    [' ', ' '],
    ['2958466', '2958466'],
    ['-1', '-1'],
    ['1E+300', `1${'0'.repeat(300)}`]
  ])('takes day %s as %s', (raw, text) => expect(dateText(raw, 'date', false)).toBe(text))

  it.each([
    ['44619', '2026-02-28'],
    ['2957003', '9999-12-31'],
    ['2957004', '2957004']
  ])('counts from 1904 where the workbook does: day %s is %s', (raw, text) =>
    expect(dateText(raw, 'date', true)).toBe(text)
  )
  it('goes on beyond 24 hours for a duration', () => {
    expect(dateText('1.25', 'elapsed', false)).toBe('30:00:00')
    expect(dateText('2932900.5', 'elapsed', false)).toBe('70389612:00:00')
  })
})

it('looks at a long text of digits once', () => {
  const digits = '1'.repeat(1_000_000)
  for (const raw of [`${digits}x`, `${digits}.${digits}x`]) {
    expect(numberText(raw)).toBe(raw)
    expect(dateText(raw, 'date', false)).toBe(raw)
  }
})

describe('texts', () => {
  it('takes a date in the form of ISO 8601', () => {
    expect(isoDateText('2026-02-28')).toBe('2026-02-28')
    expect(isoDateText('2026-02-28T00:00:00.000Z')).toBe('2026-02-28')
    expect(isoDateText('2026-02-28T14:30:05Z')).toBe('2026-02-28 14:30:05')
  })
  it('restores what XML cannot hold', () => expect(unescapedText('a_x000D_b_x005F_c_xZZ_')).toBe('a\rb_c_xZZ_'))
})
