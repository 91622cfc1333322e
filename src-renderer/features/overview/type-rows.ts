import { sayableRate, troubleOf, type Accuracy, type LimitsOf, type QueueReading, type TypeTrouble } from '@contract'
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
  const share = (n: number | undefined): number | null =>
    flow && flow.ended5m > 0 ? sayableRate((n ?? 0) / flow.ended5m, flow.ended5m) : null
  return {
    type,
    depth: depth.value,
    accuracy: depth.accuracy,
    running: parts.find((part) => part.state === 'RUNNING')?.count ?? 0,
    trend: valuesOf(ring, 'depth', type),
    oldestMs: reading.oldest.find((one) => one.type === type)?.ageMs ?? null,
    in1m: flow?.submitted1m ?? null,
    out1m: flow?.finished1m ?? null,
    ended5m: flow?.ended5m ?? null,
    failureRate: share(flow?.failed5m),
    failed5m: flow?.failed5m ?? null,
    retryRate: share(flow?.retried5m),
    p95Ms: flow?.duration?.p95 ?? null,
    trouble: (flow && troubleOf(flow, limitsOf(type))?.kind) ?? null
  }
}
