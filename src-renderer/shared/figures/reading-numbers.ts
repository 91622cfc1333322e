import { enoughAttempts, workerAliveMs, type QueueReading, type TypeFlow, type WorkerRow } from '@contract'
import { thresholds } from './thresholds.ts'

/** What pages say of one reading, derived once. Rates are fractions; null is unknown. */
export interface ReadingNumbers {
  readonly depth: number
  readonly waiting: number
  readonly in1m: number
  readonly out1m: number
  readonly oldest: QueueReading['oldest'][number] | null
  readonly failureRate: number | null
  /** Above its threshold, over enough attempts to say so. */
  readonly failureHigh: boolean
  readonly alive: readonly WorkerRow[]
  readonly known: readonly WorkerRow[]
  /** Known but without a heartbeat, the longest silent first. */
  readonly silent: readonly WorkerRow[]
}

export function numbersOf(reading: QueueReading): ReadingNumbers {
  const sum = (of: (flow: TypeFlow) => number): number => reading.flow.reduce((total, flow) => total + of(flow), 0)
  const known = reading.workers.filter((worker) => worker.status !== 'stopped')
  const isAlive = (worker: WorkerRow): boolean => reading.at - worker.lastHeartbeatAt < workerAliveMs
  const waiting = reading.depth.filter(({ state }) => state === 'QUEUED' || state === 'RETRY_WAIT')
  const ended = sum((flow) => flow.ended5m)
  const failed = sum((flow) => flow.failed5m)
  return {
    depth: reading.depth.reduce((total, part) => total + part.count, 0),
    waiting: waiting.reduce((total, part) => total + part.count, 0),
    in1m: sum((flow) => flow.submitted1m),
    out1m: sum((flow) => flow.finished1m),
    oldest: [...reading.oldest].sort((a, b) => b.ageMs - a.ageMs)[0] ?? null,
    failureRate: ended === 0 ? null : failed / ended,
    failureHigh: ended >= enoughAttempts && failed / ended > thresholds.failureRate,
    known,
    alive: known.filter(isAlive),
    silent: known.filter((worker) => !isAlive(worker)).sort((a, b) => a.lastHeartbeatAt - b.lastHeartbeatAt)
  }
}

/** Share of a type's attempts of the last 5 minutes that did not succeed: failed for good, to be retried, or lost. */
export function troubleRate(flow: TypeFlow): number | null {
  if (flow.ended5m === 0) return null
  return Math.min(1, (flow.failed5m + flow.retried5m + flow.recovered5m) / flow.ended5m)
}

/** Whether a type fails: too many of its attempts for good, or too many at all; a handful of attempts says nothing. */
export function isFailing(flow: TypeFlow): boolean {
  if (flow.ended5m < enoughAttempts) return false
  return flow.failed5m / flow.ended5m > thresholds.failureRate || (troubleRate(flow) ?? 0) > thresholds.troubleRate
}

export type Drain =
  { kind: 'empty' } | { kind: 'drains'; ms: number } | { kind: 'grows'; perMinute: number } | { kind: 'steady' }

/** Where the queue is going at the pace of the last minute. A net change within 5 % of the arrivals is none. */
export function drainOf(numbers: Pick<ReadingNumbers, 'waiting' | 'in1m' | 'out1m'>): Drain {
  if (numbers.waiting === 0) return { kind: 'empty' }
  const net = numbers.in1m - numbers.out1m
  if (Math.abs(net) <= Math.max(1, 0.05 * numbers.in1m)) return { kind: 'steady' }
  return net > 0 ? { kind: 'grows', perMinute: net } : { kind: 'drains', ms: (numbers.waiting / -net) * 60_000 }
}

/** Since when the newest known values have been above `limit`; null when the newest is not, or nothing is known. */
export function aboveSince(times: readonly number[], values: readonly (number | null)[], limit: number): number | null {
  let since: number | null = null
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] ?? null
    if (value === null) continue
    if (value <= limit) return since
    since = times[i] ?? since
  }
  return since
}
