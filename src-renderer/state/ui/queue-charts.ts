import type { MetricName, ProbeName, QueueLimits } from '@contract'
import { pointsOf, type SeriesRing } from '../series-ring.ts'
import type { ChartLine, ChartThreshold } from '@/shared/charts/chart-option.ts'
import { briefDuration, decade, isWide } from '@/shared/charts/latency-scale.ts'
import { count, duration, percent, shortCount, shortDuration } from '@/shared/format/format.ts'
import { limitText } from '@/shared/format/signal.ts'
import { palette, series as dataColours, taskState, type ThemeName } from '@/shared/theme/tokens.ts'
import type { Readout } from '@/shared/ui/Panel.vue'

export interface ChartNote {
  readonly text: string
  readonly tone: 'bad' | 'plain'
}

/** One chart of a queue or of one type, ready to be drawn. */
export interface QueueChart {
  /** `charts.title.KEY` in the i18n files. */
  readonly key: 'depth' | 'throughput' | 'oldest' | 'rates' | 'pickup' | 'duration'
  readonly lines: readonly ChartLine[]
  readonly readouts: readonly Readout[]
  readonly unit: 'plain' | 'count' | 'ms'
  readonly axisFormat: (value: number) => string
  readonly threshold?: ChartThreshold
  readonly log: boolean
  readonly note?: ChartNote
}

/** The same hours of an earlier time, moved here, and how their lines and readouts are called. */
export interface Earlier {
  readonly ring: SeriesRing
  readonly name: string
  readonly shortName: string
}

export interface QueueChartsInput {
  readonly ring: SeriesRing | null
  /** '' is the whole queue. */
  readonly type: string
  readonly theme: ThemeName
  readonly limits: QueueLimits
  /** The moment that headers read out. */
  readonly at: number
  readonly t: (key: string, named?: Record<string, unknown>) => string
  readonly earlier: Earlier | null
  /** Figures that the table never tells: a chart of nothing else is left out. */
  readonly untold: ReadonlySet<string>
}

/** Index of the time that is nearest to `at`; -1 without times. */
function nearestTo(at: number, times: readonly number[]): number {
  const distance = (i: number): number => Math.abs((times[i] ?? Infinity) - at)
  return times.reduce((nearest, _time, i) => (nearest === -1 || distance(i) < distance(nearest) ? i : nearest), -1)
}

/** What the charts are made of. */
class Parts {
  readonly input: QueueChartsInput
  readonly colours: (typeof dataColours)[ThemeName]
  private readonly shown: number
  private readonly shownEarlier: number

  constructor(input: QueueChartsInput) {
    this.input = input
    this.colours = dataColours[input.theme]
    this.shown = nearestTo(input.at, input.ring?.times ?? [])
    this.shownEarlier = nearestTo(input.at, input.earlier?.ring.times ?? [])
  }

  points(metric: MetricName): ChartLine['data'] {
    return pointsOf(this.input.ring, metric, this.input.type)
  }

  valueAt(metric: MetricName): number | null {
    return this.points(metric)[this.shown]?.[1] ?? null
  }

  stateColour(state: keyof typeof taskState): string {
    return taskState[state][this.input.theme]
  }

  line(metric: MetricName, name: string, colour: string, more: Partial<ChartLine> = {}): ChartLine {
    return { name, colour, data: this.points(metric), ...more }
  }

  /** The earlier values as a dashed line; none while nothing is compared. */
  before(metric: MetricName): ChartLine[] {
    const { earlier, type } = this.input
    if (!earlier) return []
    const data = pointsOf(earlier.ring, metric, type)
    return [{ name: earlier.name, colour: this.earlierColour, data, earlier: true }]
  }

  beforeReadout(metric: MetricName, format: (value: number | null) => string): Readout[] {
    const { earlier, type } = this.input
    if (!earlier) return []
    const value = pointsOf(earlier.ring, metric, type)[this.shownEarlier]?.[1] ?? null
    return [{ name: earlier.shortName, value: format(value), colour: this.earlierColour }]
  }

  private get earlierColour(): string {
    return palette[this.input.theme].textMuted
  }
}

/** Of these at least one must be told. */
const probes: Readonly<Record<QueueChart['key'], readonly ProbeName[]>> = {
  depth: ['depth'],
  throughput: ['submitted', 'finished'],
  oldest: ['oldest'],
  rates: ['ended'],
  pickup: ['durations'],
  duration: ['durations']
}

/** The six charts, fewer where the table does not tell. */
export function queueCharts(input: QueueChartsInput): QueueChart[] {
  return allCharts(new Parts(input)).filter(({ key }) => probes[key].some((probe) => !input.untold.has(probe)))
}

function allCharts(parts: Parts): QueueChart[] {
  return [
    ...[depthChart(parts), throughputChart(parts), oldestChart(parts), ratesChart(parts)],
    ...[percentileChart(parts, 'pickup'), percentileChart(parts, 'duration')]
  ]
}

/** Waiting ones on top of the running; the rare states only when there are any. */
function depthChart(parts: Parts): QueueChart {
  const { t } = parts.input
  const rare = (['PAUSED', 'CREATED'] as const).filter((state) =>
    parts.points(`depth.${state}`).some(([, value]) => (value ?? 0) > 0)
  )
  const stacked = ['RUNNING', 'QUEUED', 'RETRY_WAIT', ...rare] as const
  const read = ['QUEUED', 'RETRY_WAIT', 'RUNNING', ...rare] as const
  const area = { area: true, stack: true, width: 1 }
  return {
    key: 'depth',
    lines: [
      ...stacked.map((state) => parts.line(`depth.${state}`, t(`states.${state}`), parts.stateColour(state), area)),
      ...parts.before('depth')
    ],
    readouts: read.map((state) => ({
      name: state === 'RETRY_WAIT' ? t('charts.retryWait') : t(`states.${state}`),
      value: shortCount(parts.valueAt(`depth.${state}`)),
      colour: parts.stateColour(state)
    })),
    unit: 'count',
    axisFormat: shortCount,
    log: false
  }
}

function throughputChart(parts: Parts): QueueChart {
  const { colours } = parts
  const { t } = parts.input
  const [arrived, left] = [parts.valueAt('in1m'), parts.valueAt('out1m')]
  const lags = (left ?? 0) < 0.8 * (arrived ?? 0)
  return {
    key: 'throughput',
    lines: [
      parts.line('in1m', t('charts.in'), colours.in),
      parts.line('out1m', t('charts.out'), colours.out, { area: true }),
      ...parts.before('out1m')
    ],
    readouts: [
      ...parts.beforeReadout('out1m', count),
      { name: t('charts.in'), value: count(arrived), colour: colours.in },
      { name: t('charts.out'), value: count(left), colour: colours.out, tone: lags ? 'bad' : 'plain' }
    ],
    unit: 'count',
    axisFormat: shortCount,
    log: false
  }
}

function oldestChart(parts: Parts): QueueChart {
  const { t, limits } = parts.input
  const value = parts.valueAt('oldestMs')
  const late = (value ?? 0) > limits.oldestMs
  return {
    key: 'oldest',
    lines: [
      parts.line('oldestMs', t('charts.oldest'), parts.stateColour(late ? 'FAILED' : 'QUEUED'), { area: true }),
      ...parts.before('oldestMs')
    ],
    readouts: [
      ...parts.beforeReadout('oldestMs', duration),
      { name: '', value: duration(value), tone: late ? 'bad' : 'plain' }
    ],
    unit: 'ms',
    axisFormat: shortDuration,
    threshold: { value: limits.oldestMs, label: limitText('oldestMs', limits.oldestMs) },
    log: false
  }
}

function ratesChart(parts: Parts): QueueChart {
  const { t, limits, untold } = parts.input
  const saysRetries = !untold.has('retries')
  const [failed, retried, ended] = [
    parts.valueAt('failureRate'),
    parts.valueAt('retryRate'),
    parts.valueAt('ended5m') ?? 0
  ]
  const tooFew = ended > 0 && (failed === null || (saysRetries && retried === null))
  return {
    key: 'rates',
    lines: [
      parts.line('failureRate', t('charts.failed'), parts.stateColour('FAILED'), { width: 2 }),
      ...(saysRetries ? [parts.line('retryRate', t('charts.retried'), parts.stateColour('RETRY_WAIT'))] : []),
      ...parts.before('failureRate')
    ],
    readouts: [
      ...parts.beforeReadout('failureRate', (value) => percent(value)),
      {
        name: t('charts.failed'),
        value: percent(failed),
        colour: parts.stateColour('FAILED'),
        tone: (failed ?? 0) > limits.failureRate ? 'bad' : 'plain'
      },
      ...(saysRetries
        ? [{ name: t('charts.retried'), value: percent(retried), colour: parts.stateColour('RETRY_WAIT') }]
        : [])
    ],
    unit: 'plain',
    axisFormat: (value) => percent(value, 0),
    threshold: { value: limits.failureRate, label: limitText('failureRate', limits.failureRate) },
    log: false,
    ...(tooFew ? { note: { text: t('charts.tooFew', { ended: count(ended) }), tone: 'plain' } } : {})
  }
}

const ranks = ['p50', 'p95', 'p99'] as const

function percentileChart(parts: Parts, key: 'pickup' | 'duration'): QueueChart {
  const lines = ranks.map((rank) => parts.line(`${key}.${rank}`, rank, parts.colours[rank]))
  const log = isWide(lines)
  return {
    key,
    lines: [...lines, ...parts.before(`${key}.p95`)],
    readouts: ranks.map((rank) => ({
      name: rank,
      value: briefDuration(parts.valueAt(`${key}.${rank}`)),
      colour: parts.colours[rank]
    })),
    unit: 'ms',
    axisFormat: log ? decade : shortDuration,
    log
  }
}
