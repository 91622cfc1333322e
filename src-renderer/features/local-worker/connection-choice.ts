import type { ConnectionView } from '@contract'

/** Why a worker cannot be started on a connection, null when it can. Each is a key of `localWorker.cannot`. */
export type Obstacle = 'readOnly' | 'locked' | 'schema' | 'lost' | 'connecting'

export function obstacleOf(connection: ConnectionView): Obstacle | null {
  if (connection.accessMode === 'read-only') return 'readOnly'
  const { status } = connection.link
  return status === 'live' ? null : status
}
