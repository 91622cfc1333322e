import { FlowWindow, type FlowCount, type Percentiles, type QueueReading, type TypeFlow } from '../kernel/index.ts'

/** Newest attempts whose durations are looked at. */
export const latencySampleSize = 1_000

/** What the probes of flow returned: of the last minute submitted and finished tasks, of the last five ended attempts. */
export interface FlowRows {
  readonly submitted: readonly FlowCount[]
  readonly finished: readonly FlowCount[]
  readonly ended: readonly FlowCount[]
}

/** One of the newest attempts. */
export interface AttemptSample {
  readonly type: string
  readonly durationMs: number
  readonly pickupMs: number
}

/** Of each type with any flow, by name. */
export function flowOf(rows: FlowRows, samples: readonly AttemptSample[]): TypeFlow[] {
  const submitted = new FlowWindow(rows.submitted, 1)
  const finished = new FlowWindow(rows.finished, 1)
  const ended = new FlowWindow(rows.ended, 5)
  const flows = [...new Set([...submitted.types, ...finished.types, ...ended.types])].sort().map((type) => ({
    type,
    submitted1m: submitted.count(type),
    finished1m: finished.count(type),
    ended5m: ended.count(type, (outcome) => outcome !== 'HANDED_BACK'),
    failed5m: ended.count(type, (outcome) => outcome === 'FAILED'),
    retried5m: ended.count(type, (outcome) => outcome === 'RETRY'),
    recovered5m: ended.count(type, (outcome) => outcome === 'LEASE_EXPIRED'),
    ...latenciesOf(samples.filter((sample) => sample.type === type))
  }))
  return flows.filter(({ submitted1m, finished1m, ended5m }) => submitted1m + finished1m + ended5m > 0)
}

export function latenciesOf(samples: readonly AttemptSample[]): Pick<QueueReading, 'duration' | 'pickup'> {
  return {
    duration: percentilesOf(samples.map(({ durationMs }) => durationMs)),
    pickup: percentilesOf(samples.map(({ pickupMs }) => pickupMs))
  }
}

/** Nearest rank: each figure is a value that was measured. Null without values. */
export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const at = (fraction: number): number => sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
