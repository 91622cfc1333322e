import { describe, expect, it } from 'vitest'
import type { ChartLine } from './chart-option.ts'
import { looksTheSame, type ChartPicture } from './chart-pace.ts'

const line = (values: readonly number[], first = 0): ChartLine => ({
  name: 'depth',
  colour: 'blue',
  data: values.map((value, i) => [first + i * 1_000, value] as const)
})
const values = Array.from({ length: 100 }, (_, i) => i)
const picture = (change: Partial<ChartPicture> = {}): ChartPicture => ({
  theme: 'dark',
  lines: [line(values)],
  from: 0,
  to: 100_000,
  marks: [],
  unit: 'plain',
  log: false,
  selection: null,
  ...change
})
/** 2 s in a pixel. */
const widthPx = 50
const drawn = picture()

describe('looksTheSame', () => {
  it('waits until the picture has moved by a pixel', () => {
    const next = [...values.slice(1), 7]
    expect(looksTheSame(drawn, picture({ lines: [line(next, 1_000)], from: 1_000, to: 101_000 }), widthPx)).toBe(true)
    const far = picture({ lines: [line([...values.slice(2), 7, 8], 2_000)], from: 2_000, to: 102_000 })
    expect(looksTheSame(drawn, far, widthPx)).toBe(false)
  })

  it('sees another range, line, threshold, theme, mark or selection at once', () => {
    const incident = { kind: 'incident', from: 5, to: null } as const
    for (const change of [
      { from: -50_000 },
      { lines: [line(values.map((value) => value + 1))] },
      { lines: [line(values.map((value, i) => (i === 10 ? 0 : value)))] },
      { lines: [line(values.map((value, i) => (i === 90 ? 0 : value)))] },
      { lines: [{ ...line(values), colour: 'red' }] },
      { lines: [{ ...line(values), area: true }] },
      { unit: 'ms' },
      { lines: [line(values), line(values)] },
      { lines: [line([])] },
      { threshold: { value: 5, label: '' } },
      { theme: 'light' },
      { log: true },
      { marks: [incident] },
      { selection: [1, 2] as const }
    ]) {
      expect(looksTheSame(drawn, picture(change), widthPx), JSON.stringify(change).slice(0, 80)).toBe(false)
    }
    const open = picture({ marks: [incident] })
    expect(looksTheSame(open, picture({ marks: [{ ...incident, to: 9 }] }), widthPx)).toBe(false)
  })

  it('draws what has no size yet, and the first points of a series', () => {
    expect(looksTheSame(drawn, drawn, 0)).toBe(false)
    const [none, one] = [picture({ lines: [line([])] }), picture({ lines: [line([1])] })]
    expect(looksTheSame(none, one, widthPx)).toBe(false)
    expect(looksTheSame(one, none, widthPx)).toBe(false)
    expect(looksTheSame(none, picture({ lines: [line([])] }), widthPx)).toBe(true)
  })
})
