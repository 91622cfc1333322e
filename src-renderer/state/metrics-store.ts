import { defineStore } from 'pinia'
import { ref, shallowReactive, shallowRef } from 'vue'
import type { Problem, QueueReading, Tick } from '@contract'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'
import { appendTick, ringOf, type SeriesRing } from './series-ring.ts'

/** Points a chart is given at most: about one for two pixels of the widest. */
const maxPoints = 360

/** The newest reading of each connection, and the series of the one that is looked at. Fed by events; never polls. */
export const useMetricsStore = defineStore('metrics', () => {
  const readings = shallowReactive(new Map<string, QueueReading>())
  const ring = shallowRef<SeriesRing | null>(null)
  const loading = ref(false)
  const problem = shallowRef<Problem | null>(null)
  let wanted: { connectionId: string; rangeMs: number } | null = null
  let asked = 0

  /** Shows this connection and range from now on; the old picture stays until the new one is here. */
  async function watch(connectionId: string, rangeMs: number): Promise<void> {
    if (ring.value?.connectionId !== connectionId) ring.value = null
    wanted = { connectionId, rangeMs }
    await askSnapshot()
  }

  function unwatch(): void {
    wanted = null
    asked++
  }

  async function askSnapshot(): Promise<void> {
    if (!wanted) return
    const question = wanted
    const mine = ++asked
    loading.value = true
    try {
      const snapshot = await useClient().overview.snapshot({ ...question, maxPoints })
      if (mine !== asked) return
      ring.value = ringOf(snapshot, question.rangeMs)
      if (snapshot.reading) keepNewer(question.connectionId, snapshot.reading)
      problem.value = null
    } catch (error) {
      if (mine === asked) problem.value = toProblem(error)
    } finally {
      if (mine === asked) loading.value = false
    }
  }

  function keepNewer(connectionId: string, reading: QueueReading): void {
    const known = readings.get(connectionId)
    if (!known || known.at <= reading.at) readings.set(connectionId, reading)
  }

  async function onTick(tick: Tick): Promise<void> {
    keepNewer(tick.connectionId, tick.reading)
    const shown = ring.value
    if (!shown || shown.connectionId !== tick.connectionId) return
    // A tick that the snapshot has already, for example the newest one, which each event stream starts with.
    if (tick.seq === shown.seq) return
    if (tick.seq === shown.seq + 1) ring.value = appendTick(shown, tick)
    // While a snapshot is on its way, the tick after it tells whether another is needed.
    else if (!loading.value) await askSnapshot()
  }

  return { readings, ring, loading, problem, watch, unwatch, askSnapshot, onTick }
})
