import type { HealthGap, HealthPart } from '@contract'

/** The value of a part, or null while it is unknown. */
export const known = <T>(part: HealthPart<T>): T | null => (part.status === 'known' ? part.value : null)

export const gapOf = <T>(part: HealthPart<T>): HealthGap | null => (part.status === 'unknown' ? part.gap : null)
