import type { AlertSignal, MetricName, Point } from '../kernel/index.ts'
import type { WorstType } from './alerts-port.ts'
import { signalValue, type MetricValue } from './signals.ts'

/** Of these a reading tells what each type has to do with the figure of the whole queue. */
const tellable: readonly AlertSignal[] = ['oldestMs', 'failureRate', 'progressStopped', 'growth']

/** What each type has to do with figures of the whole queue in one reading; of `tellable` signals, null where no type has. */
export function worstTypes(points: readonly Point[]): (signal: AlertSignal) => WorstType | null {
  const types = new Map<string, Map<MetricName, number>>()
  for (const { metric, type, value } of points)
    types.set(type, (types.get(type) ?? new Map<MetricName, number>()).set(metric, value))
  const whole = types.get('')
  types.delete('')
  return (signal) => {
    if (!tellable.includes(signal)) return null
    const shares = [...types].map(([type, figures]) => ({ type, ...shareOf(signal, (metric) => figures.get(metric)) }))
    const worst = shares.reduce<(typeof shares)[number] | null>((a, b) => (b.weight > (a?.weight ?? 0) ? b : a), null)
    if (!worst) return null
    // Only the busiest types have points: the oldest task may be of another.
    if (signal === 'oldestMs' && worst.value < (whole?.get('oldestMs') ?? 0)) return null
    return { type: worst.type, value: worst.value }
  }
}

/** A rate of few attempts says little of a queue: the type with the most failures makes its rate. */
function shareOf(signal: AlertSignal, now: MetricValue): { value: number; weight: number } {
  if (signal === 'failureRate') {
    const value = now('failureRate') ?? 0
    return { value, weight: value * (now('ended5m') ?? 0) }
  }
  const value = signalValue(signal, { now, earlier: () => undefined }) ?? 0
  return { value, weight: value }
}
