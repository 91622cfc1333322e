import { defaultRules, signalValue } from '../../alerting/index.ts'
import type { Point } from '../../kernel/index.ts'
import { standing } from './standing.ts'
import type { Trouble } from './status-report.ts'

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
