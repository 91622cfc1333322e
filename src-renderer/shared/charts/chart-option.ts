import type { EChartsCoreOption } from 'echarts/core'
import { clock, clockSeconds } from '../format/format.ts'
import { alpha, palette, series as dataColours, type ThemeName } from '../theme/tokens.ts'
import type { TimePoint, TimeSpan } from './gaps.ts'
import { timeTicks } from './time-ticks.ts'

export interface ChartLine {
  readonly name: string
  readonly colour: string
  readonly data: readonly TimePoint[]
  readonly area?: boolean
  /** Areas on top of each other; all stacked lines of a chart are one stack. */
  readonly stack?: boolean
  readonly width?: number
  /** What it was at an earlier time: thin, dashed, and no sign of what is known now. */
  readonly earlier?: boolean
}

/**
 * Something that happened. `incident`: a line where it began and a faint area while it lasted. `firing`: when a rule would have fired, never
 * thinner than can be seen, with its label. `moment`: the time that the reader came to look at.
 */
export interface ChartMark {
  readonly kind: 'incident' | 'firing' | 'moment'
  readonly from: number
  /** null: it lasts. */
  readonly to: number | null
  readonly label?: string
}

export interface ChartThreshold {
  readonly value: number
  readonly label: string
}

export interface TimeChartSpec {
  readonly theme: ThemeName
  readonly lines: readonly ChartLine[]
  readonly from: number
  readonly to: number
  readonly axisFormat: (value: number) => string
  readonly threshold?: ChartThreshold
  /** Room for the axis labels, px. */
  readonly left: number
  /** Steps that read well: durations do not count in tens, and there is no half a task. */
  readonly unit: 'plain' | 'count' | 'ms'
  readonly log: boolean
  readonly gaps: readonly TimeSpan[]
  readonly marks: readonly ChartMark[]
  /** What the reader is dragging over. */
  readonly selection: TimeSpan | null
  /** A pattern for unknown time; null where there is no canvas. */
  readonly hatch: HTMLCanvasElement | null
}

const day = 86_400_000

/** The whole ECharts option of a time chart, from its spec alone. */
export function timeChartOption(spec: TimeChartSpec): EChartsCoreOption {
  const { theme } = spec
  const muted = palette[theme].textSubtle
  const ticks = timeTicks(spec.from, spec.to)
  return {
    grid: { left: spec.left, right: 12, top: 8, bottom: 20 },
    // The crosshair writes into the panel headers of all charts; a floating box would hide the very lines it explains.
    tooltip: { trigger: 'axis', showContent: false },
    xAxis: {
      type: 'time',
      min: spec.from,
      max: spec.to,
      axisTick: { customValues: ticks },
      axisLabel: {
        customValues: ticks,
        hideOverlap: true,
        formatter: (value: number) => timeLabel(value, spec.to - spec.from)
      },
      axisPointer: {
        snap: true,
        label: { show: true, formatter: ({ value }: { value: number }) => clockSeconds(value) }
      }
    },
    yAxis: {
      type: spec.log ? 'log' : 'value',
      min: spec.log ? undefined : 0,
      // An empty or all-zero chart keeps a scale, so that its axis does not read 0, 0, 0.
      ...axisSteps(spec),
      axisLabel: { formatter: spec.axisFormat, color: muted }
    },
    series: spec.lines.map((line, i) => lineSeries(line, i === 0 ? marks(spec) : {}, spec.log))
  }
}

/** Three to four round steps; for durations, round ones of their own (5 s, 5 m), which ECharts does not know. */
export function axisSteps(spec: Pick<TimeChartSpec, 'lines' | 'threshold' | 'unit' | 'log' | 'from'>): {
  max?: number
  interval?: number
} {
  if (spec.log) return {}
  const top = Math.max(stackTop(spec.lines, spec.from), (spec.threshold?.value ?? 0) * 1.15)
  const steps = stepsOf(spec.unit, top)
  const step = steps.find((one) => top / one <= 4) ?? top / 4
  return top > 0 ? { max: Math.max(1, Math.ceil(top / step)) * step, interval: step } : { max: 1, interval: 1 }
}

const durationSteps = [1, 5, 10, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000, 30_000].concat(
  [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  [1, 2, 3, 6, 12, 24, 48, 168].map((hours) => hours * 3_600_000)
)

function stepsOf(unit: TimeChartSpec['unit'], top: number): number[] {
  if (unit === 'ms') return durationSteps
  return unit === 'count' ? [1, ...plainSteps(top)].filter(Number.isInteger) : plainSteps(top)
}

function plainSteps(top: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(top, 1e-6)))
  return [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5].map((factor) => factor * magnitude)
}

function stackTop(lines: readonly ChartLine[], from: number): number {
  const sums = new Map<number, number>()
  let top = 0
  for (const line of lines) {
    for (const [time, value] of line.data) {
      if (value === null || time < from) continue
      const sum = line.stack ? (sums.get(time) ?? 0) + value : value
      if (line.stack) sums.set(time, sum)
      top = Math.max(top, sum)
    }
  }
  return top
}

function timeLabel(value: number, span: number): string {
  if (span > 1.5 * day) return new Date(value).toISOString().slice(5, 10)
  // Labels lie less than a minute apart.
  return span < 240_000 ? clockSeconds(value) : clock(value)
}

function lineSeries(line: ChartLine, marked: object, log: boolean): object {
  return {
    type: 'line',
    name: line.name,
    // A logarithm has no zero: it is drawn as the bottom of the scale would be, not as unknown.
    data: log ? line.data.map(([time, value]) => [time, value === null ? null : Math.max(1, value)]) : line.data,
    stack: line.stack ? 'all' : undefined,
    lineStyle: line.earlier
      ? { color: line.colour, width: 1, type: [3, 3], opacity: 0.75 }
      : { color: line.colour, width: line.width ?? 1.5 },
    itemStyle: { color: line.colour },
    showSymbol: false,
    connectNulls: false,
    areaStyle: line.area ? { color: line.colour, opacity: line.stack ? 0.32 : 0.12 } : undefined,
    ...marked
  }
}

/** Threshold, unknown time, what happened and the selection hang on the first line. */
function marks(spec: TimeChartSpec): object {
  const { theme } = spec
  const hatched = spec.hatch ? { color: { image: spec.hatch, repeat: 'repeat' }, opacity: 0.8 } : {}
  const areas: unknown[] = spec.gaps
    .filter(([, to]) => to > spec.from)
    .map(([from, to]) => [{ xAxis: Math.max(from, spec.from), itemStyle: hatched }, { xAxis: to }])
  areas.push(...spec.marks.flatMap((mark) => markArea(mark, spec)))
  if (spec.selection) {
    const chosen = { color: alpha(palette[theme].accent, 0.16), borderColor: palette[theme].accent, borderWidth: 1 }
    areas.push([{ xAxis: Math.min(...spec.selection), itemStyle: chosen }, { xAxis: Math.max(...spec.selection) }])
  }
  const threshold = spec.threshold && {
    yAxis: spec.threshold.value,
    lineStyle: { color: dataColours[theme].threshold, type: [4, 3], width: 1 },
    label: {
      show: true,
      formatter: spec.threshold.label,
      position: 'insideStartTop',
      distance: [0, 1],
      fontSize: 11,
      color: palette[theme].warn
    }
  }
  const lines = spec.marks.flatMap((mark) => markLine(mark, spec))
  return {
    markLine: { symbol: 'none', silent: true, data: threshold ? [...lines, threshold] : lines },
    markArea: { silent: true, data: areas }
  }
}

/** A mark's end in the picture: one that lasts reaches to now. */
const endOf = (mark: ChartMark, spec: TimeChartSpec): number => Math.min(mark.to ?? spec.to, spec.to)

function markArea(mark: ChartMark, spec: TimeChartSpec): unknown[] {
  const { theme, from, to } = spec
  const end = endOf(mark, spec)
  if (mark.kind === 'moment' || end < from || mark.from > to) return []
  const colour = dataColours[theme].incident
  if (mark.kind === 'incident') {
    const style = { color: alpha(colour, 0.07) }
    return [[{ xAxis: Math.max(from, mark.from), itemStyle: style }, { xAxis: end }]]
  }
  const start = Math.min(mark.from, end - (to - from) / 200)
  const isLate = start > from + 0.7 * (to - from)
  const label = {
    show: (mark.label ?? '') !== '',
    position: isLate ? 'insideTopRight' : 'insideTopLeft',
    offset: [isLate ? -6 : 6, 4],
    align: isLate ? 'right' : 'left',
    color: colour,
    fontSize: 11
  }
  return [[{ name: mark.label, xAxis: start, itemStyle: { color: alpha(colour, 0.5) }, label }, { xAxis: end }]]
}

function markLine(mark: ChartMark, { theme, from, to }: TimeChartSpec): unknown[] {
  if (mark.kind === 'firing' || mark.from < from || mark.from > to) return []
  const lineStyle =
    mark.kind === 'incident'
      ? { color: dataColours[theme].incident, type: 'solid', width: 1 }
      : { color: palette[theme].accent, type: [2, 2], width: 1 }
  return [{ xAxis: mark.from, lineStyle, label: { show: false } }]
}
