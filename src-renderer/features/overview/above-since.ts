import { firingSince, type QueueLimits, type QueueReading } from '@contract'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'
import type { Said } from './sentence.ts'

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

interface SinceInput {
  readonly reading: Pick<QueueReading, 'at'>
  readonly ring: SeriesRing
  readonly limitsOf: (type: string) => QueueLimits
}

/** Since when what the sentence says is so: by the rule that fires for it, by its age, or by the series; null when nothing tells. */
export function seenSince({ sentence, alert, isSame }: Said, { reading, ring, limitsOf }: SinceInput): Since | null {
  if (isSame && alert) return { at: firingSince(alert.firing, reading.at), isEarlier: false }
  if (sentence.kind === 'oldest')
    return { at: reading.at - sentence.ageMs + limitsOf(sentence.type).oldestMs, isEarlier: false }
  if (sentence.kind === 'failing') {
    const { type } = sentence
    return aboveSince(ring.times, valuesOf(ring, 'failureRate', type), limitsOf(type).failureRate)
  }
  if (sentence.kind !== 'noWorkers') return null
  const missing = valuesOf(ring, 'workersAlive').map((alive) => (alive === null ? null : -alive))
  return aboveSince(ring.times, missing, -1)
}
