import { liveStates, type QueueReading, type TaskState } from '@contract'

/**
 * How many tasks are in each live state, from the newest reading; of these types only, when there are any. A state that the
 * reading does not count (those that have ended) has no entry: its number is not known.
 */
export function facetCounts(reading: QueueReading | null, types: readonly string[]): Map<TaskState, number> {
  const counts = new Map<TaskState, number>()
  if (!reading) return counts
  for (const state of liveStates) counts.set(state, 0)
  for (const part of reading.depth) {
    const known = counts.get(part.state)
    if (known === undefined || (types.length > 0 && !types.includes(part.type))) continue
    counts.set(part.state, known + part.count)
  }
  return counts
}

/** Every type that the reading knows, by name. */
export function knownTypes(reading: QueueReading | null): string[] {
  if (!reading) return []
  return [...new Set([...reading.depth, ...reading.flow].map((one) => one.type))].sort()
}
