/** Points of one reading; metrics are names of `metricNames` (src-main/kernel/reading.ts), type '' is the whole queue. */
export interface DemoReading {
  readonly at: number
  readonly points: readonly { readonly metric: string; readonly type: string; readonly value: number }[]
}

/** Times are ms since the epoch, both ends included; `stepMs` (default 15,000) lies between two readings. */
export function makeDay(range: { from: number; to: number; stepMs?: number }): Generator<DemoReading, void>
