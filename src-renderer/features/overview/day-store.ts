import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import { ringOf, valuesOf } from '@/state/series-ring.ts'
import { useClient } from '@/transport/client.ts'

export interface DayBar {
  readonly from: number
  readonly to: number
  /** Highest failure rate of the time, a fraction; null is unknown. */
  readonly failureRate: number | null
}

const dayMs = 86_400_000
const barMs = 900_000

/** The last 24 hours of one connection in quarters of an hour, for the strip that shows and sets the range. */
export const useDayStore = defineStore('overview-day', () => {
  const bars = shallowRef<readonly DayBar[]>([])
  let shown = { connectionId: '', until: 0 }

  /** Asks once a connection and quarter of an hour; a strip that cannot be had is left empty, the charts say why. */
  async function load(connectionId: string, now: number): Promise<void> {
    const until = Math.ceil(now / barMs) * barMs
    if (shown.connectionId === connectionId && shown.until === until) return
    if (shown.connectionId !== connectionId) bars.value = []
    const question = { connectionId, until }
    shown = question
    try {
      const snapshot = await useClient().overview.snapshot({ connectionId, rangeMs: dayMs, maxPoints: 288 })
      if (shown !== question) return
      const rates = valuesOf(ringOf(snapshot, dayMs), 'failureRate')
      bars.value = barsOf(snapshot.times, rates, until)
    } catch {
      if (shown === question) shown = { connectionId: '', until: 0 }
    }
  }

  return { bars, load }
})

/** The highest rate of each quarter of an hour in the day before `until`. */
function barsOf(times: readonly number[], rates: readonly (number | null)[], until: number): DayBar[] {
  const highest = new Map<number, number>()
  times.forEach((time, i) => {
    const rate = rates[i] ?? null
    const slot = Math.floor(time / barMs)
    if (rate !== null) highest.set(slot, Math.max(rate, highest.get(slot) ?? 0))
  })
  return Array.from({ length: dayMs / barMs }, (_, i) => {
    const from = until - dayMs + i * barMs
    return { from, to: from + barMs, failureRate: highest.get(Math.floor(from / barMs)) ?? null }
  })
}
