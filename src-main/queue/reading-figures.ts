import type { Accuracy, Percentiles, QueueReading, TaskState, TypeFlow } from '../kernel/index.ts'

/** Newest rows that a flow probe reads at most; of a busier window the rest is extrapolated from the time they span. */
export const mostFlowRows = 10_000
/** Newest attempts whose durations are looked at. */
export const latencySampleSize = 1_000

/** One group of the newest rows of a window. */
export interface FlowCount {
  readonly type: string
  /** '' where rows have none. */
  readonly outcome: string
  readonly count: number
  /** Age of the group's oldest row, milliseconds. */
  readonly reachedMs: number
}

/** The newest rows of the last `minutes`, at most `mostFlowRows` of them, by type and outcome. */
export class FlowWindow {
  readonly types: readonly string[]
  private readonly rows: readonly FlowCount[]
  /** Above 1 when the window holds more rows than were read. */
  private readonly scale: number

  constructor(rows: readonly FlowCount[], minutes: number) {
    this.rows = rows
    this.types = rows.map(({ type }) => type)
    const read = rows.reduce((sum, { count }) => sum + count, 0)
    const spanMs = Math.max(1, ...rows.map(({ reachedMs }) => reachedMs))
    this.scale = read < mostFlowRows ? 1 : Math.max(1, (minutes * 60_000) / spanMs)
  }

  count(type: string, outcomes: (outcome: string) => boolean = () => true): number {
    const rows = this.rows.filter((row) => row.type === type && outcomes(row.outcome))
    return Math.round(rows.reduce((sum, { count }) => sum + count, 0) * this.scale)
  }
}

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

/** Counts of tasks by type and state, put together from parts. */
export class DepthSum {
  private readonly parts = new Map<string, QueueReading['depth'][number]>()

  add(type: string, state: TaskState, count: number, accuracy: Accuracy = 'exact'): void {
    const key = `${state} ${type}`
    const known = this.parts.get(key)
    const sum = { type, state, count: (known?.count ?? 0) + count }
    const worst = worse(known?.accuracy ?? 'exact', accuracy)
    this.parts.set(key, worst === 'exact' ? sum : { ...sum, accuracy: worst })
  }

  get depth(): QueueReading['depth'] {
    return [...this.parts.values()]
  }
}

/** An estimate in a sum makes it one; a part that is too small makes it too small. */
function worse(a: Accuracy, b: Accuracy): Accuracy {
  if (a === 'about' || b === 'about') return 'about'
  return a === 'atLeast' || b === 'atLeast' ? 'atLeast' : 'exact'
}

/** Nearest rank: each figure is a value that was measured. Null without values. */
export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const at = (fraction: number): number => sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
