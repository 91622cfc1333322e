import type { QueueReading } from '@contract'

/** What watching costs is said over so long. */
const spanMs = 60_000

type Reading = Pick<QueueReading, 'at' | 'costMs' | 'costRows'>

export interface MonitoringCost {
  /** Of the time, 0 to 1: how long the database worked for its readings. */
  readonly share: number
  /** null where the server does not tell. */
  readonly rowsPerMinute: number | null
}

/** The readings of the last minute before the newest, oldest first. One reading more than the minute holds, since each cost is set against the wait before it. */
export function withinSpan<R extends Reading>(readings: readonly R[]): R[] {
  const newest = readings.at(-1)
  if (!newest) return []
  const first = readings.findIndex(({ at }) => newest.at - at <= spanMs)
  return readings.slice(Math.max(0, first))
}

/** null until two readings say how far apart they are. */
export function monitoringCost(readings: readonly Reading[]): MonitoringCost | null {
  const [first, ...rest] = readings
  const last = rest.at(-1)
  if (!first || !last || last.at <= first.at) return null
  const elapsedMs = last.at - first.at
  const rows = rest.reduce<number | null>(
    (sum, { costRows }) => (sum === null || costRows === null ? null : sum + costRows),
    0
  )
  return {
    share: rest.reduce((sum, { costMs }) => sum + costMs, 0) / elapsedMs,
    rowsPerMinute: rows === null ? null : (rows / elapsedMs) * 60_000
  }
}
