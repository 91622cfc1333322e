import { describe, expect, it } from 'vitest'
import { axisSteps, timeChartOption, type ChartLine } from './chart-option.ts'
import { gapsOf } from './gaps.ts'

const line = (values: number[], more: Partial<ChartLine> = {}): ChartLine => ({
  name: 'x',
  colour: '#fff',
  data: values.map((value, i) => [i, value]),
  ...more
})
const steps = (lines: ChartLine[], unit: 'plain' | 'count' | 'ms' = 'plain', limit?: number): object =>
  axisSteps({
    lines,
    unit,
    log: false,
    from: 0,
    threshold: limit === undefined ? undefined : { value: limit, label: '' }
  })

describe('axisSteps', () => {
  it('chooses three to four round steps above the highest value', () => {
    expect(steps([line([1, 1_240])])).toEqual({ max: 1_500, interval: 500 })
    expect(steps([line([16_700])])).toEqual({ max: 20_000, interval: 5_000 })
  })
  it('has no half tasks', () => {
    expect(steps([line([9])], 'count')).toEqual({ max: 10, interval: 5 })
    expect(steps([line([3])], 'count')).toEqual({ max: 3, interval: 1 })
  })
  it('counts durations in minutes, not in tens', () => {
    expect(steps([line([1_008_000])], 'ms')).toEqual({ max: 1_200_000, interval: 300_000 })
  })
  it('keeps the threshold inside the picture and adds stacked lines up', () => {
    expect(steps([line([20_000])], 'ms', 300_000)).toMatchObject({ max: 360_000 })
    expect(steps([line([10], { stack: true }), line([30], { stack: true })])).toMatchObject({ max: 40 })
  })
  it('keeps a scale when nothing happened', () => {
    expect(steps([line([0, 0])])).toEqual({ max: 1, interval: 1 })
  })
})

describe('gapsOf', () => {
  it('spans unknown time from the last known moment to the next', () => {
    const data = [
      [1, 5],
      [2, null],
      [3, null],
      [4, 6]
    ] as const
    expect(gapsOf([data], 4, 10)).toEqual([[1, 4]])
  })
  it('begins with the first point where nothing was known before', () => {
    const data = [
      [1, null],
      [2, null],
      [3, 5]
    ] as const
    expect(gapsOf([data], 3, 10)).toEqual([[1, 3]])
  })
  it('is known where any line is', () => {
    expect(
      gapsOf(
        [
          [
            [1, 5],
            [2, null],
            [3, 1]
          ],
          [
            [1, 5],
            [2, 7],
            [3, 1]
          ]
        ],
        3,
        10
      )
    ).toEqual([])
  })
  it('reaches up to now when the last reading is old', () => {
    expect(
      gapsOf(
        [
          [
            [1, 5],
            [2, 5]
          ]
        ],
        100,
        10
      )
    ).toEqual([[2, 100]])
    expect(
      gapsOf(
        [
          [
            [1, 5],
            [2, 5]
          ]
        ],
        8,
        10
      )
    ).toEqual([])
  })
})

describe('timeChartOption', () => {
  it('never joins the ends of a gap, never animates, and has no floating tooltip', () => {
    const option = timeChartOption({
      theme: 'dark',
      lines: [line([1, 2])],
      from: 0,
      to: 1,
      axisFormat: String,
      left: 40,
      unit: 'plain',
      log: false,
      gaps: [[0, 1]],
      marks: [],
      selection: null,
      hatch: null
    })
    expect(option).toMatchObject({
      tooltip: { showContent: false },
      series: [{ connectNulls: false, showSymbol: false }]
    })
  })

  const base = {
    theme: 'dark',
    lines: [line([1, 2])],
    from: 0,
    to: 100,
    axisFormat: String,
    left: 40,
    unit: 'plain',
    log: false,
    gaps: [],
    marks: [],
    selection: null,
    hatch: null
  } as const
  const first = (option: object): { markLine: { data: object[] }; markArea: { data: object[][] } } =>
    (option as { series: never[] }).series[0]!

  it('draws an incident as a line where it began and an area while it lasts', () => {
    const marks = [{ kind: 'incident', from: 40, to: null } as const]
    const { markLine, markArea } = first(timeChartOption({ ...base, marks }))
    expect(markLine.data).toMatchObject([{ xAxis: 40 }])
    expect(markArea.data).toMatchObject([[{ xAxis: 40 }, { xAxis: 100 }]])
  })

  it('keeps an incident that began before the picture as an area, and leaves out one that is not in it', () => {
    const marks = [
      { kind: 'incident', from: -50, to: 20 },
      { kind: 'incident', from: -50, to: -20 }
    ] as const
    const { markLine, markArea } = first(timeChartOption({ ...base, marks }))
    expect(markLine.data).toEqual([])
    expect(markArea.data).toMatchObject([[{ xAxis: 0 }, { xAxis: 20 }]])
  })

  it('makes a short firing wide enough to be seen, and names it', () => {
    const marks = [{ kind: 'firing', from: 50, to: 50.1, label: '2 m' } as const]
    const [[start, end] = []] = first(timeChartOption({ ...base, marks })).markArea.data
    expect(start).toMatchObject({ name: '2 m' })
    expect((end as { xAxis: number }).xAxis - (start as { xAxis: number }).xAxis).toBeGreaterThanOrEqual(0.5 - 1e-9)
  })

  it('draws earlier values thin and dashed', () => {
    const option = timeChartOption({ ...base, lines: [line([1]), line([2], { earlier: true })] })
    expect(option).toMatchObject({ series: [{}, { lineStyle: { width: 1, type: [3, 3] } }] })
  })
})
