import { duration, shortDuration } from '@/shared/format/format.ts'
import type { ChartLine } from './chart-option.ts'

/** Three of these stand in one header: from a minute on, one unit is enough. */
export const briefDuration = (ms: number | null): string => ((ms ?? 0) < 60_000 ? duration(ms) : shortDuration(ms))

/** On a logarithmic axis. A logarithm's steps are powers of ten: 100 s reads better there than 1.7 m. */
export const decade = (ms: number): string => (ms < 1000 ? shortDuration(ms) : `${ms / 1000}\u2009s`)

/** Over two decades only a logarithm shows both ends. */
export function isWide(lines: readonly ChartLine[]): boolean {
  const known = lines.flatMap((one) => one.data.map(([, value]) => value ?? 0)).filter((value) => value > 0)
  return known.length > 0 && Math.max(...known) > 100 * Math.min(...known)
}
