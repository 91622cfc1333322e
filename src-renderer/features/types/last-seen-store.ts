import { defineStore } from 'pinia'
import { useClient } from '@/transport/client.ts'
import { pointsOf, ringOf } from '@/state/series-ring.ts'
import { rangeMs, rangeNames, type RangeName } from '@/shared/ranges.ts'

/** When history last has something of a type, and the shortest range that shows it. */
export interface LastSeen {
  /** Start of the step that has it, ms. */
  readonly at: number
  readonly range: RangeName
}

/** History of one type that lies further back than the range of the page. */
export const useLastSeenStore = defineStore('type-last-seen', () => {
  /** Looks through longer ranges, one after the other; null when none has anything. Rejects with what `toProblem` reads. */
  async function find(connectionId: string, type: string, after: RangeName): Promise<LastSeen | null> {
    for (const range of rangeNames.slice(rangeNames.indexOf(after) + 1)) {
      const question = { connectionId, rangeMs: rangeMs[range], maxPoints: 360, types: [type] }
      const snapshot = await useClient().overview.snapshot(question)
      const depth = pointsOf(ringOf(snapshot, rangeMs[range]), 'depth', type)
      const last = depth.findLast(([, value]) => value !== null)
      if (last) return { at: last[0], range }
    }
    return null
  }

  return { find }
})
