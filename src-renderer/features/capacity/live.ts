import type { QueueReading, TypeFlow } from '@contract'
import { takingWorkers } from '@/shared/takes-tasks.ts'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'
import type { CapacityInputs } from './model.ts'
import { untakenTypes, type UntakenType } from './untaken.ts'

/** How a mean duration was got: slots in use by Little's law, or a usual shape laid through the percentiles. */
export type DurationSource = 'measured' | 'estimated' | 'unknown'

/** What one type, or all together, asks of the workers. Rates are a second. */
export interface Load {
  readonly arrivals: number
  /** null: none ended lately. */
  readonly attempts: number | null
  readonly durationMs: number | null
  readonly durationSource: DurationSource
  readonly waiting: number
  /** Beside these: those that wait for the time of their next attempt. */
  readonly retrying: number
  /** There are at least so many. */
  readonly waitingIsBounded: boolean
  /** Slots that hold an attempt now. */
  readonly busy: number
  /** Attempts a second, and the slots that they hold on average. */
  readonly rate: number | null
  readonly needed: number | null
}

export interface LiveNumbers {
  readonly load: Load
  readonly inputs: CapacityInputs
  /** While there are any, nothing is forecast: more workers of the same kind would not take them. */
  readonly untaken: readonly UntakenType[]
}

/** While tasks wait, a worker claims again at once; freed slots gather for so long. */
const gatherMs = 4
const windowMs = 300_000
/** Little's law needs time and attempts, or chance decides. */
const shortestMs = 240_000
const fewestSamples = 10
const fewestAttempts = 20

/** `type` null is all types together; one type has what the others leave of the workers. */
export function liveNumbers(reading: QueueReading, ring: SeriesRing | null, type: string | null): LiveNumbers {
  const load = loadOf(reading, ring, type)
  const workers = takingWorkers(reading)
  const slots = meanOf(workers.map((worker) => worker.slots))
  const claimMs = meanOf(workers.flatMap(({ claimP50Ms }) => claimP50Ms ?? []))
  const untaken = untakenTypes(reading).filter((one) => isOf(one, type))
  const { arrivals, attempts, durationMs } = load
  return {
    ...{ load, untaken },
    inputs: {
      ...{ slots, arrivals, attempts, durationMs },
      waiting: untaken.length > 0 ? null : load.waiting,
      workers: workers.length,
      // A claim never asks for more than the free slots.
      batch: slots,
      claimMs: claimMs === null ? null : claimMs + gatherMs,
      taken: type === null ? { slots: 0, rate: 0 } : takenByOthers(reading, ring, type)
    }
  }
}

export function loadOf(reading: QueueReading, ring: SeriesRing | null, type: string | null): Load {
  const flows = reading.flow.filter((flow) => isOf(flow, type))
  const duration = durationOf(flows, reading, ring, type)
  const waiting = waitingIn(reading, type)
  const running = reading.depth.filter((part) => isOf(part, type) && part.state === 'RUNNING')
  const arrivals = sum(flows, ({ submitted1m }) => submitted1m) / 60
  const attempts = attemptsOf(flows)
  const rate = arrivals === 0 ? 0 : attempts === null ? null : arrivals * attempts
  return {
    ...{ arrivals, attempts, rate },
    durationMs: duration.ms,
    durationSource: duration.source,
    waiting: waiting.count,
    waitingIsBounded: waiting.bounded,
    retrying: waiting.retrying,
    busy: running.reduce((total, part) => total + part.count, 0),
    needed: rate === 0 ? 0 : rate === null || duration.ms === null ? null : (rate * duration.ms) / 1000
  }
}

function takenByOthers(reading: QueueReading, ring: SeriesRing | null, type: string): CapacityInputs['taken'] {
  const others = typesOf(reading)
    .filter((other) => other !== type)
    .map((other) => loadOf(reading, ring, other))
  const total = (of: (load: Load) => number | null): number | null =>
    others.reduce<number | null>((all, load) => {
      const part = of(load)
      return all === null || part === null ? null : all + part
    }, 0)
  return { slots: total(({ needed }) => needed), rate: total(({ rate }) => rate) }
}

const isOf = (part: { readonly type: string }, type: string | null): boolean => type === null || part.type === type
const sum = (flows: readonly TypeFlow[], of: (flow: TypeFlow) => number): number =>
  flows.reduce((total, flow) => total + of(flow), 0)
const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((total, value) => total + value, 0) / values.length

/** Beyond it a type is behind: no worker takes at once what is due. */
const behindMs = 10_000

/**
 * A reading does not tell how many of the retries are due. While their type is behind, they join what waits before they are taken; otherwise they
 * wait for their time and are no backlog.
 */
function waitingIn(
  { depth, oldest }: QueueReading,
  type: string | null
): { readonly count: number; readonly retrying: number; readonly bounded: boolean } {
  const behind = new Set(oldest.filter(({ ageMs }) => ageMs > behindMs).map((one) => one.type))
  const parts = depth.filter((part) => isOf(part, type))
  const retries = parts.filter(({ state }) => state === 'RETRY_WAIT')
  const waiting = parts.filter((part) => part.state === 'QUEUED' || (retries.includes(part) && behind.has(part.type)))
  const total = (some: typeof parts): number => some.reduce((all, part) => all + part.count, 0)
  return {
    count: total(waiting),
    retrying: total(retries.filter((part) => !waiting.includes(part))),
    bounded: waiting.some(({ accuracy }) => accuracy === 'atLeast')
  }
}

/** Of attempts that ended, those that are to be followed by another one. null when none ended. */
function attemptsOf(flows: readonly TypeFlow[]): number | null {
  const ended = sum(flows, ({ ended5m }) => ended5m)
  const again = sum(flows, ({ retried5m, recovered5m }) => retried5m + recovered5m)
  return ended === 0 ? null : ended / Math.max(1, ended - again)
}

interface Duration {
  readonly ms: number | null
  readonly source: DurationSource
}

function durationOf(
  flows: readonly TypeFlow[],
  reading: QueueReading,
  ring: SeriesRing | null,
  type: string | null
): Duration {
  const ended = sum(flows, ({ ended5m }) => ended5m)
  const busy = meanBusy(reading.at, ring, type ?? '')
  if (busy !== null && busy > 0 && ended >= fewestAttempts) return { ms: (busy * windowMs) / ended, source: 'measured' }
  const parts = flows.flatMap((flow) => {
    const ms = estimatedMean(flow)
    return ms === null || flow.ended5m === 0 ? [] : [{ ms, weight: flow.ended5m }]
  })
  const weight = parts.reduce((total, part) => total + part.weight, 0)
  if (weight === 0) return { ms: null, source: 'unknown' }
  return { ms: parts.reduce((total, part) => total + part.ms * part.weight, 0) / weight, source: 'estimated' }
}

/** Slots in use over the last five minutes; null when too little of them is known. */
function meanBusy(at: number, ring: SeriesRing | null, type: string): number | null {
  if (!ring) return null
  const running = valuesOf(ring, 'depth.RUNNING', type)
  const samples = ring.times.flatMap((time, index) => {
    const value = running[index] ?? null
    return value !== null && time > at - windowMs ? [{ time, value }] : []
  })
  const [first] = samples
  if (!first || samples.length < fewestSamples || at - first.time < shortestMs) return null
  return meanOf(samples.map(({ value }) => value))
}

/** The mean of a log-normal spread with this median and this 95th percentile: what durations mostly look like. */
export function estimatedMean({ duration }: Pick<TypeFlow, 'duration'>): number | null {
  if (duration === null || duration.p50 <= 0) return null
  const spread = Math.log(Math.max(1, duration.p95 / duration.p50)) / 1.645
  return duration.p50 * Math.exp(spread ** 2 / 2)
}

/** All types that wait, run, or came lately. */
export function typesOf({ depth, flow }: QueueReading): string[] {
  return [...new Set([...depth, ...flow].map(({ type }) => type))].sort()
}

/** One row of the table by type. */
export interface TypeLoad extends Load {
  readonly type: string
  readonly isUntaken: boolean
}

/** The types that need the most slots first; those of which nothing can be said last. */
export function typeLoads(reading: QueueReading, ring: SeriesRing | null): TypeLoad[] {
  const untaken = new Set(untakenTypes(reading).map(({ type }) => type))
  return typesOf(reading)
    .map((type) => ({ type, isUntaken: untaken.has(type), ...loadOf(reading, ring, type) }))
    .sort((a, b) => (b.needed ?? -1) - (a.needed ?? -1) || (a.type < b.type ? -1 : 1))
}
