import type { ConnectionView, Problem, QueueReading } from '@contract'
import { valuesOf, type SeriesRing } from '@/state/series-ring.ts'

/**
 * `picture`: numbers and charts, possibly old. `absent`: nothing is known of the type. `blocked`: the tables, or password or server and
 * a picture, are missing. `unknown`: no such connection. `failed`: the picture cannot be had. `loading`: not yet known.
 */
export type TypeState = 'loading' | 'picture' | 'absent' | 'blocked' | 'unknown' | 'failed'

export function typeState(known: {
  readonly connections: { loaded: boolean; current: ConnectionView | undefined }
  readonly ring: SeriesRing | null
  readonly reading: QueueReading | null
  readonly problem: Problem | null
  readonly type: string
}): TypeState {
  const { connections, ring, reading, problem, type } = known
  if (!connections.loaded) return 'loading'
  if (!connections.current) return 'unknown'
  const { status } = connections.current.link
  if (status === 'schema') return 'blocked'
  if (reading && ring) return isKnown(type, reading, ring) ? 'picture' : 'absent'
  if (status === 'locked' || (status === 'lost' && !reading)) return 'blocked'
  return problem && !ring ? 'failed' : 'loading'
}

function isKnown(type: string, reading: QueueReading, ring: SeriesRing): boolean {
  const rows = [...reading.depth, ...reading.flow, ...reading.oldest]
  return rows.some((row) => row.type === type) || valuesOf(ring, 'depth', type).some((value) => value !== null)
}
