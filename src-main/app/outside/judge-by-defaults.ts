import { defaultRules, signalValue } from '../../alerting/index.ts'
import type { AlertSignal, Point } from '../../kernel/index.ts'
import type { Trouble } from './status-report.ts'

/**
 * Figures that mean trouble in a single reading, because they hold time themselves: an age, a share of 5 minutes, a silence. The others
 * (a full pool, growth, no end for a minute) are daily life unless they last, which one reading cannot tell.
 */
export const standing: readonly AlertSignal[] = [
  'oldestMs',
  'failureRate',
  'workersSilent',
  'schedulesLate',
  'databaseUse'
]

/** One reading against the thresholds that a connection's alert rules begin with. */
export function judgeByDefaults(points: readonly Point[]): Trouble[] {
  const now = (metric: Point['metric']): number | undefined =>
    points.find((point) => point.metric === metric && point.type === '')?.value
  return defaultRules.flatMap(({ signal, type, above, enabled }) => {
    if (!enabled || !standing.includes(signal)) return []
    const value = signalValue(signal, { now, earlier: () => undefined })
    return value !== null && value > above ? [{ signal, type, value, above, since: null, silenced: false }] : []
  })
}
