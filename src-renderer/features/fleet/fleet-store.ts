import { defineStore } from 'pinia'
import { ref, shallowReactive, shallowRef } from 'vue'
import { numbersOf, type Point, type Problem, type QueueReading } from '@contract'
import { appendTick, ringOf, type SeriesRing } from '@/state/series-ring.ts'
import { useClient } from '@/transport/client.ts'
import { toProblem } from '@/transport/problem.ts'

const rangeMs = 3_600_000
/** A sparkline is some 90 px wide. */
const maxPoints = 60
/** Histories that are read at a time: the app answers others too. */
const atOnce = 3

/** The last hour of each connection, asked for once and then continued with readings; and the last known reading of those that have none in this run. */
export const useFleetStore = defineStore('fleet', () => {
  const trends = shallowReactive(new Map<string, SeriesRing>())
  const lastKnown = shallowReactive(new Map<string, QueueReading>())
  const loading = ref(false)
  /** Of the last history that could not be had; its row has no sparkline. */
  const problem = shallowRef<Problem | null>(null)
  const asked = new Set<string>()
  const waiting: string[] = []
  let working = 0

  /** Asks for what is not known yet. One that could not be had is asked for again the next time. */
  function load(connectionIds: readonly string[]): void {
    for (const id of connectionIds) {
      if (asked.has(id)) continue
      asked.add(id)
      waiting.push(id)
    }
    while (working < atOnce && waiting.length > 0) void work()
  }

  async function work(): Promise<void> {
    working++
    loading.value = true
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await ask(id)
    working--
    loading.value = working > 0
  }

  async function ask(connectionId: string): Promise<void> {
    try {
      const snapshot = await useClient().overview.snapshot({ connectionId, rangeMs, maxPoints })
      // Only what is drawn is kept: thirty histories of all types would be a lot of nothing.
      const series = snapshot.series.filter(({ metric, type }) => type === '' && drawn.includes(metric))
      trends.set(connectionId, ringOf({ ...snapshot, series }, rangeMs))
      if (snapshot.reading) lastKnown.set(connectionId, snapshot.reading)
      problem.value = null
    } catch (error) {
      asked.delete(connectionId)
      problem.value = toProblem(error)
    }
  }

  /** A reading at the end of its connection's hour. */
  function follow(connectionId: string, reading: QueueReading): void {
    const trend = trends.get(connectionId)
    const last = trend?.times.at(-1) ?? Number.NEGATIVE_INFINITY
    if (!trend || reading.at <= last) return
    const tick = { connectionId, seq: trend.seq + 1, reading, points: pointsOfReading(reading) }
    trends.set(connectionId, appendTick(trend, tick))
  }

  /** After the carrier broke: what happened meanwhile is in history only. */
  function restart(): void {
    asked.clear()
    waiting.length = 0
  }

  return { trends, lastKnown, loading, problem, load, follow, restart }
})

/** The rate is told by the attempts that it is of. */
const drawn: readonly string[] = ['depth', 'failureRate', 'ended5m']

function pointsOfReading(reading: QueueReading): Point[] {
  const { depth, ended, failureRate } = numbersOf(reading)
  const points: Point[] = [
    { metric: 'depth', type: '', value: depth },
    { metric: 'ended5m', type: '', value: ended }
  ]
  return failureRate === null ? points : [...points, { metric: 'failureRate', type: '', value: failureRate }]
}
