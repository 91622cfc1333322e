import { sayableRate, silenceMs, type Point, type Snapshot, type Tick } from '@contract'

/**
 * Series of one connection over one range, oldest first. Values are aligned to `times`; null is unknown, and no rate of too few attempts to say
 * (`sayableRate`).
 */
export interface SeriesRing {
  readonly connectionId: string
  readonly rangeMs: number
  readonly stepMs: number
  readonly seq: number
  readonly times: readonly number[]
  /** By `seriesKey(metric, type)`. */
  readonly values: ReadonlyMap<string, readonly (number | null)[]>
}

/** `type` '' is the whole queue. */
export const seriesKey = (metric: string, type = ''): string => `${metric}\u0000${type}`

export function ringOf(snapshot: Snapshot, rangeMs: number): SeriesRing {
  return {
    connectionId: snapshot.connectionId,
    rangeMs,
    stepMs: snapshot.stepMs,
    seq: snapshot.seq,
    times: snapshot.times,
    values: sayable(new Map(snapshot.series.map((one) => [seriesKey(one.metric, one.type), one.values])))
  }
}

/** Shares of the attempts that `ended5m` counts. */
const rates: readonly string[] = ['failureRate', 'retryRate']

function sayable(all: SeriesRing['values']): SeriesRing['values'] {
  const said = ([key, column]: [string, readonly (number | null)[]]): [string, readonly (number | null)[]] => {
    const [metric = '', type] = key.split('\u0000')
    const ended = rates.includes(metric) ? all.get(seriesKey('ended5m', type)) : undefined
    return [key, ended ? column.map((rate, i) => (rate === null ? null : sayableRate(rate, ended[i] ?? 0))) : column]
  }
  return new Map([...all].map(said))
}

/** By series; without rates of too few attempts. */
function valuesNow(points: readonly Point[]): Map<string, number> {
  const known = new Map(points.map((point) => [seriesKey(point.metric, point.type), point.value]))
  for (const { metric, type, value } of points) {
    const ended = rates.includes(metric) ? known.get(seriesKey('ended5m', type)) : undefined
    if (ended !== undefined && sayableRate(value, ended) === null) known.delete(seriesKey(metric, type))
  }
  return known
}

/**
 * The ring with a tick's points at its end, and what fell out of the range gone from its start. A tick within the last step
 * replaces that step's values, so a long range keeps its resolution. Time without readings gets an unknown column.
 */
export function appendTick(ring: SeriesRing, tick: Tick): SeriesRing {
  const at = tick.reading.at
  const last = ring.times.at(-1)
  if (last !== undefined && at < last) return { ...ring, seq: tick.seq }
  const sameStep = last !== undefined && Math.floor(at / ring.stepMs) === Math.floor(last / ring.stepMs)
  const kept = sameStep ? ring.times.slice(0, -1) : [...ring.times]
  const afterGap = last !== undefined && at - last > Math.max(3 * ring.stepMs, silenceMs)
  if (afterGap) kept.push(last + ring.stepMs)
  const from = at - ring.rangeMs
  const dropped = kept.findIndex((time) => time >= from)
  const skip = dropped === -1 ? kept.length : dropped
  const times = [...kept.slice(skip), at]
  return { ...ring, seq: tick.seq, times, values: columns(ring, tick.points, kept.length, skip) }
}

function columns(
  ring: SeriesRing,
  points: readonly Point[],
  keptLength: number,
  skip: number
): Map<string, readonly (number | null)[]> {
  const newest = valuesNow(points)
  const values = new Map<string, readonly (number | null)[]>()
  for (const key of new Set([...ring.values.keys(), ...newest.keys()])) {
    const before = (ring.values.get(key) ?? []).slice(0, keptLength)
    const padding = Array.from({ length: keptLength - before.length }, () => null)
    // A series that starts now is unknown before; one that stops is padded at its end.
    const column = ring.values.has(key) ? [...before, ...padding] : padding
    const all = [...column.slice(skip), newest.get(key) ?? null]
    // Types come and go: what has left the range is forgotten.
    if (all.some((value) => value !== null)) values.set(key, all)
  }
  return values
}

/** The ring from `from` on, for what draws by index. */
export function ringSince(ring: SeriesRing, from: number): SeriesRing {
  const first = ring.times.findIndex((time) => time >= from)
  if (first <= 0) return ring
  const values = new Map([...ring.values].map(([key, column]) => [key, column.slice(first)]))
  return { ...ring, times: ring.times.slice(first), values }
}

/** The same values at other times: an earlier day under today's hours. */
export function shiftRing(ring: SeriesRing, byMs: number): SeriesRing {
  return { ...ring, times: ring.times.map((time) => time + byMs) }
}

/** When the first thing is known; null when nothing is. */
export function knownSince(ring: SeriesRing): number | null {
  const depth = valuesOf(ring, 'depth')
  const first = depth.findIndex((value) => value !== null)
  return ring.times[first] ?? null
}

/** The series as chart points; an unknown series is empty. */
export function pointsOf(ring: SeriesRing | null, metric: string, type = ''): [number, number | null][] {
  const values = ring?.values.get(seriesKey(metric, type))
  if (!ring || !values) return []
  return ring.times.map((time, i) => [time, values[i] ?? null])
}

/** The values alone, for a sparkline. */
export function valuesOf(ring: SeriesRing | null, metric: string, type = ''): readonly (number | null)[] {
  return ring?.values.get(seriesKey(metric, type)) ?? []
}
