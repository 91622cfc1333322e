import type { QueueLimits } from '@contract'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'
import type { Sentence } from './sentence.ts'

export interface Since {
  readonly at: number
  /** It was so already when the first of the values was known. */
  readonly isEarlier: boolean
}

/** Since when the newest known values have been above `limit`; null when the newest is not, or nothing is known. */
export function aboveSince(times: readonly number[], values: readonly (number | null)[], limit: number): Since | null {
  let at: number | null = null
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] ?? null
    if (value === null) continue
    if (value <= limit) return at === null ? null : { at, isEarlier: false }
    at = times[i] ?? at
  }
  return at === null ? null : { at, isEarlier: true }
}

/** Since when the series have shown what the sentence says; null when they do not tell, or the sentence has its own age. */
export function seenSince(sentence: Sentence, ring: SeriesRing, limitsOf: (type: string) => QueueLimits): Since | null {
  if (sentence.kind === 'failing') {
    const { type } = sentence
    return aboveSince(ring.times, valuesOf(ring, 'failureRate', type), limitsOf(type).failureRate)
  }
  if (sentence.kind !== 'noWorkers') return null
  const missing = valuesOf(ring, 'workersAlive').map((alive) => (alive === null ? null : -alive))
  return aboveSince(ring.times, missing, -1)
}
