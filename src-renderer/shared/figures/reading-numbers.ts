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

/**
 * What is wrong with a type's attempts of the last 5 minutes. `failing`: too many failed for good, which is the failure rate of tiles, charts and
 * rules. `retrying`: too many did not succeed, nearly all of which are to be tried again. Rates are fractions of the attempts that ended.
 */
export interface TypeTrouble {
  readonly kind: 'failing' | 'retrying'
  readonly failureRate: number
  /** Those that are to be tried again: retried or lost. */
  readonly againRate: number
}

/** null when it is well, or too few attempts ended to say so. */
export function troubleOf(flow: TypeFlow): TypeTrouble | null {
  if (flow.ended5m < enoughAttempts) return null
  const failureRate = flow.failed5m / flow.ended5m
  const againRate = Math.min(1 - failureRate, (flow.retried5m + flow.recovered5m) / flow.ended5m)
  if (failureRate > thresholds.failureRate) return { kind: 'failing', failureRate, againRate }
  return failureRate + againRate > thresholds.troubleRate ? { kind: 'retrying', failureRate, againRate } : null
}

/** The type with the most attempts that did not succeed, of those that fail if there are any. */
export function worstTrouble(flows: readonly TypeFlow[]): (TypeTrouble & { readonly type: string }) | null {
  const unsuccessful = ({ failed5m, retried5m, recovered5m }: TypeFlow): number => failed5m + retried5m + recovered5m
  const found = flows.flatMap((flow) => {
    const trouble = troubleOf(flow)
    return trouble ? [{ flow, trouble }] : []
  })
  const failing = found.filter(({ trouble }) => trouble.kind === 'failing')
  const [worst] = (failing.length > 0 ? failing : found).sort((a, b) => unsuccessful(b.flow) - unsuccessful(a.flow))
  return worst ? { type: worst.flow.type, ...worst.trouble } : null
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
