import {
  isHeldBack,
  sayableRate,
  troubleOf,
  type Accuracy,
  type LimitsOf,
  type ProbeName,
  type QueueReading,
  type TypeTrouble
} from '@contract'
import { boundedDepth } from '@/shared/figures/bounded.ts'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'

/** One type of the queue. Rates are fractions; null is unknown. */
export interface TypeRow {
  readonly type: string
  readonly depth: number | null
  /** Of the depth. */
  readonly accuracy: Accuracy
  readonly running: number
  readonly trend: readonly (number | null)[]
  readonly oldestMs: number | null
  readonly in1m: number | null
  readonly out1m: number | null
  readonly ended5m: number | null
  /** Null also where too few ended to say, as `retryRate` is. */
  readonly failureRate: number | null
  readonly failed5m: number | null
  readonly retryRate: number | null
  readonly p95Ms: number | null
  readonly trouble: TypeTrouble['kind'] | null
}

/** Every type that waits, runs or ran in the last minutes, the deepest first. */
export function typeRows(reading: QueueReading, ring: SeriesRing | null, limitsOf: LimitsOf): TypeRow[] {
  const names = new Set([
    ...reading.flow.map((flow) => flow.type),
    ...reading.depth.map((part) => part.type),
    ...reading.oldest.map((one) => one.type)
  ])
  return [...names]
    .map((type) => rowOf(type, { reading, ring, limitsOf }))
    .sort((a, b) => (b.depth ?? -1) - (a.depth ?? -1) || (a.type < b.type ? -1 : 1))
}

function rowOf(
  type: string,
  of: { readonly reading: QueueReading; readonly ring: SeriesRing | null; readonly limitsOf: LimitsOf }
): TypeRow {
  const { reading, ring, limitsOf } = of
  const flow = reading.flow.find((one) => one.type === type)
  const depth = boundedDepth(reading, type)
  const parts = reading.depth.filter((part) => part.type === type)
  /** What was held back is unknown, not zero. */
  const told = <T>(probe: ProbeName, value: T | undefined): T | null =>
    value === undefined || isHeldBack(reading, probe) ? null : value
  const share = (n: number | null): number | null =>
    flow && n !== null && flow.ended5m > 0 ? sayableRate(n / flow.ended5m, flow.ended5m) : null
  return {
    type,
    depth: depth.value,
    accuracy: depth.accuracy,
    running: parts.find((part) => part.state === 'RUNNING')?.count ?? 0,
    trend: valuesOf(ring, 'depth', type),
    oldestMs: reading.oldest.find((one) => one.type === type)?.ageMs ?? null,
    in1m: told('submitted', flow?.submitted1m),
    out1m: told('finished', flow?.finished1m),
    ended5m: told('ended', flow?.ended5m),
    failureRate: share(told('ended', flow?.failed5m)),
    failed5m: told('ended', flow?.failed5m),
    retryRate: share(told('retries', flow?.retried5m)),
    p95Ms: flow?.duration?.p95 ?? null,
    trouble: (flow && troubleOf({ flow, reading, limits: limitsOf(type) })?.kind) ?? null
  }
}
