import { silenceMs, type QueueReading } from '@contract'
import { knownSince, type SeriesRing } from './series-ring.ts'

const shortestMs = 300_000
/** An old picture moves on so often. */
const oldStepMs = 5_000

export interface LiveQuestion {
  readonly ring: SeriesRing | null
  readonly reading: QueueReading | null
  readonly rangeMs: number
  readonly stale: boolean
  readonly now: number
}

/**
 * The stretch of time that a live picture shows. It ends with what was read last; an old one ends now, so that its age is seen. A history of
 * minutes fills it instead of standing at its edge.
 */
export function livePicture({ ring, reading, rangeMs, stale, now }: LiveQuestion): { from: number; to: number } {
  // The times of the ring may be the starts of steps, which what was read last comes after.
  const newest = Math.max(ring?.times.at(-1) ?? 0, reading?.at ?? 0) || now
  const to = stale || now - newest > silenceMs ? Math.floor(now / oldStepMs) * oldStepMs : newest
  const since = (ring && knownSince(ring)) ?? to
  return { from: Math.max(to - rangeMs, Math.min(since, to - shortestMs)), to }
}

/** How old the newest value of a line may be before the rest of the picture is a gap. */
export const patienceOf = (ring: SeriesRing | null): number => Math.max(silenceMs, 3 * (ring?.stepMs ?? 0))
