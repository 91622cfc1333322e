import type { ConnectionView, Problem, QueueReading } from '@contract'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'

/**
 * `picture`: numbers and charts, possibly old. `start`: a queue in which nothing ever happened. `blocked`: the tables, or
 * password or server and a picture, are missing. `unknown`: no such connection. `failed`: the picture cannot be had. `loading`: not yet known.
 */
export type OverviewState = 'loading' | 'picture' | 'start' | 'blocked' | 'unknown' | 'failed'

export function overviewState(
  connections: { loaded: boolean; current: ConnectionView | undefined },
  ring: SeriesRing | null,
  reading: QueueReading | null,
  problem: Problem | null
): OverviewState {
  if (!connections.loaded) return 'loading'
  if (!connections.current) return 'unknown'
  const { profile, link } = connections.current
  const { status } = link
  if (status === 'schema') return 'blocked'
  // Nothing can be started in another application's table.
  if (reading && ring) return profile || hasHistory(reading, ring) ? 'picture' : 'start'
  if (status === 'locked' || (status === 'lost' && !reading)) return 'blocked'
  return problem && !ring ? 'failed' : 'loading'
}

function hasHistory(reading: QueueReading, ring: SeriesRing): boolean {
  if (reading.depth.length > 0 || reading.flow.length > 0 || reading.workers.length > 0) return true
  return ['depth', 'in1m', 'out1m'].some((metric) => valuesOf(ring, metric).some((value) => (value ?? 0) > 0))
}
