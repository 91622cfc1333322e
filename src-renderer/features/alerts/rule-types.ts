import type { QueueReading } from '@contract'

/** Every type that is seen: first the one whose task has been due the longest, those that only wait included; those without a due task by name. */
export function typesByNeed(reading: Pick<QueueReading, 'depth' | 'oldest' | 'flow'> | null): string[] {
  if (!reading) return []
  const seen = [...reading.depth, ...reading.flow].map(({ type }) => type).sort()
  const due = [...reading.oldest].sort((a, b) => b.ageMs - a.ageMs).map(({ type }) => type)
  return [...new Set([...due, ...seen])]
}
