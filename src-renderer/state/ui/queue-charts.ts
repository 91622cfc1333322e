import type { MetricName, QueueLimits } from '@contract'
import { pointsOf, type SeriesRing } from '@/state/series-ring.ts'
import type { ChartLine, ChartThreshold } from '@/shared/charts/chart-option.ts'
import { briefDuration, decade, isWide } from '@/shared/charts/latency-scale.ts'
import { count, duration, percent, shortCount, shortDuration } from '@/shared/format/format.ts'
import { limitText } from '@/shared/format/signal.ts'
import { series as dataColours, taskState, type ThemeName } from '@/shared/theme/tokens.ts'
import type { Readout } from '@/shared/ui/Panel.vue'

/** One chart of a type's page, ready to be drawn. */
export interface TypeChart {
  /** `types.chart.KEY` in the i18n files. */
  readonly key: 'depth' | 'throughput' | 'oldest' | 'rates' | 'pickup' | 'duration'
  readonly lines: readonly ChartLine[]
  readonly readouts: readonly Readout[]
  readonly unit: 'plain' | 'count' | 'ms'
  readonly axisFormat: (value: number) => string
  readonly threshold?: ChartThreshold
  readonly log: boolean
}

export interface TypeChartsInput {
  readonly ring: SeriesRing | null
  readonly type: string
  readonly theme: ThemeName
  readonly limits: QueueLimits
  /** The column that headers read out. */
  readonly shown: number
  readonly t: (key: string) => string
}

const ranks = ['p50', 'p95', 'p99'] as const

/** The six charts of the Overview, of one type. */
export function typeCharts({ ring, type, theme, limits, shown, t }: TypeChartsInput): TypeChart[] {
  const colours = dataColours[theme]
  const stateColour = (state: keyof typeof taskState): string => taskState[state][theme]
  const points = (metric: MetricName): ChartLine['data'] => pointsOf(ring, metric, type)
  const valueAt = (metric: MetricName): number | null => points(metric)[shown]?.[1] ?? null
  const line = (metric: MetricName, name: string, colour: string, more: Partial<ChartLine> = {}): ChartLine => ({
    name,
    colour,
    data: points(metric),
    ...more
  })

  const rare = (['PAUSED', 'CREATED'] as const).filter((state) =>
    points(`depth.${state}`).some(([, value]) => (value ?? 0) > 0)
  )
  const states = ['RUNNING', 'QUEUED', 'RETRY_WAIT', ...rare] as const
  const depth: TypeChart = {
    key: 'depth',
    lines: states.map((state) =>
      line(`depth.${state}`, t(`states.${state}`), stateColour(state), { area: true, stack: true, width: 1 })
    ),
    readouts: states.map((state) => ({
      name: state === 'RETRY_WAIT' ? t('types.retryWait') : t(`states.${state}`),
      value: shortCount(valueAt(`depth.${state}`)),
      colour: stateColour(state)
    })),
    unit: 'count',
    axisFormat: shortCount,
    log: false
  }
  const lags = (valueAt('out1m') ?? 0) < 0.8 * (valueAt('in1m') ?? 0)
  const throughput: TypeChart = {
    key: 'throughput',
    lines: [line('in1m', t('types.in'), colours.in), line('out1m', t('types.out'), colours.out, { area: true })],
    readouts: [
      { name: t('types.in'), value: count(valueAt('in1m')), colour: colours.in },
      { name: t('types.out'), value: count(valueAt('out1m')), colour: colours.out, tone: lags ? 'bad' : 'plain' }
    ],
    unit: 'count',
    axisFormat: shortCount,
    log: false
  }
  const late = (valueAt('oldestMs') ?? 0) > limits.oldestMs
  const oldest: TypeChart = {
    key: 'oldest',
    lines: [line('oldestMs', t('types.oldest'), stateColour(late ? 'FAILED' : 'QUEUED'), { area: true })],
    readouts: [{ name: '', value: duration(valueAt('oldestMs')), tone: late ? 'bad' : 'plain' }],
    unit: 'ms',
    axisFormat: shortDuration,
    threshold: { value: limits.oldestMs, label: limitText('oldestMs', limits.oldestMs) },
    log: false
  }
  const fails = (valueAt('failureRate') ?? 0) > limits.failureRate
  const rates: TypeChart = {
    key: 'rates',
    lines: [
      line('failureRate', t('types.failed'), stateColour('FAILED'), { width: 2 }),
      line('retryRate', t('types.retried'), stateColour('RETRY_WAIT'))
    ],
    readouts: [
      {
        name: t('types.failed'),
        value: percent(valueAt('failureRate')),
        colour: stateColour('FAILED'),
        tone: fails ? 'bad' : 'plain'
      },
      { name: t('types.retried'), value: percent(valueAt('retryRate')), colour: stateColour('RETRY_WAIT') }
    ],
    unit: 'plain',
    axisFormat: (value) => percent(value, 0),
    threshold: { value: limits.failureRate, label: limitText('failureRate', limits.failureRate) },
    log: false
  }
  const percentiles = (key: 'pickup' | 'duration'): TypeChart => {
    const lines = ranks.map((rank) => line(`${key}.${rank}`, rank, colours[rank]))
    const log = isWide(lines)
    return {
      key,
      lines,
      readouts: ranks.map((rank) => ({
        name: rank,
        value: briefDuration(valueAt(`${key}.${rank}`)),
        colour: colours[rank]
      })),
      unit: 'ms',
      axisFormat: log ? decade : shortDuration,
      log
    }
  }
  return [depth, throughput, oldest, rates, percentiles('pickup'), percentiles('duration')]
}
