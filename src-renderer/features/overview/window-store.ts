import { defineStore } from 'pinia'
import { useClient } from '@/transport/client.ts'
import { ringOf, type SeriesRing } from '@/state/series-ring.ts'

/** One point for two pixels of the widest chart. */
const maxPoints = 360
/** The shortest range that the app answers, ms. */
const shortestMs = 60_000

/** Stretches of history that do not move: a part that was drawn, a moment that was linked to, the same time of an earlier day. */
export const useWindowStore = defineStore('overview-window', () => {
  /** At the resolution of the stretch itself. Rejects with what `toProblem` reads. */
  async function load(connectionId: string, from: number, to: number): Promise<SeriesRing> {
    const rangeMs = Math.max(shortestMs, Math.round(to - from))
    const snapshot = await useClient().overview.snapshot({ connectionId, rangeMs, maxPoints, endAt: Math.round(to) })
    return ringOf(snapshot, rangeMs)
  }

  return { load }
})
