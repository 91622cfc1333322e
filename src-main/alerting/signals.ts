import { enoughAttempts, type AlertSignal, type MetricName } from '../kernel/index.ts'

/** One metric at one moment, of the type that is asked about; undefined is unknown. */
export type MetricValue = (metric: MetricName) => number | undefined

export interface Moment {
  readonly now: MetricValue
  /** As it was `riseWindowMs` before. */
  readonly earlier: MetricValue
}

/** A rise is told over the window that its metric itself covers, so that no event is in both. */
export const riseWindowMs = 300_000

interface Formula {
  readonly metrics: readonly MetricName[]
  /** The first so many must be known. Left out: all. */
  readonly needs?: number
  /** Of all metrics, in their order; undefined is unknown. null: they say nothing. */
  readonly value: (...metrics: (number | undefined)[]) => number | null
  /** Less its value at the earlier moment. */
  readonly rise?: true
}

const itself = (metric: MetricName): Formula => ({ metrics: [metric], value: (value = 0) => value })

/** `blindMs` is not among them: a reading cannot tell that there was none. */
const formulas: Record<Exclude<AlertSignal, 'blindMs'>, Formula> = {
  oldestMs: itself('oldestMs'),
  failureRate: {
    metrics: ['ended5m', 'failureRate'],
    // Where nothing ends there is no rate, and nothing fails either.
    needs: 1,
    value: (ended = 0, rate) => {
      if (ended === 0 || rate === 0) return 0
      return ended >= enoughAttempts ? (rate ?? null) : null
    }
  },
  recoveredRise: { ...itself('recovered5m'), rise: true },
  workersSilent: { metrics: ['workersKnown', 'workersAlive'], value: (known = 0, alive = 0) => known - alive },
  poolUse: itself('poolUse'),
  databaseUse: itself('databaseUse'),
  claimP95: itself('claimP95'),
  progressStopped: {
    metrics: ['depth.RUNNING', 'out1m'],
    value: (running = 0, out = 0) => (out === 0 ? running : 0)
  },
  growth: { metrics: ['in1m', 'out1m'], value: (arrived = 0, left = 0) => arrived - left },
  schedulesLate: itself('schedulesLate')
}

/** Of the whole queue: a moment without any of them has no reading at all. */
const witnesses: readonly MetricName[] = ['depth', 'monitorMs']

/** The metrics that a preview of this signal needs from history, of the rule's type and of the whole queue (''). */
export function metricsOf(signal: AlertSignal): readonly MetricName[] {
  return signal === 'blindMs' ? witnesses : [...formulas[signal].metrics, ...witnesses]
}

/** The signal at the moment of a reading, live or from history; null when a figure that it needs is unknown. */
export function signalValue(signal: AlertSignal, { now, earlier }: Moment): number | null {
  if (signal === 'blindMs') return 0
  const formula = formulas[signal]
  const current = valueAt(formula, now)
  if (!formula.rise || current === null) return current
  const before = valueAt(formula, earlier)
  return before === null ? null : current - before
}

function valueAt({ metrics, needs = metrics.length, value }: Formula, at: MetricValue): number | null {
  const found = metrics.map((metric) => {
    const one = at(metric)
    return one !== undefined && Number.isFinite(one) ? one : undefined
  })
  return found.slice(0, needs).includes(undefined) ? null : value(...found)
}
