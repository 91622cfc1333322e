import type { ConnectionView } from '@contract'

/** Why nothing can be written over a connection: no task made, no worker started. Each is a key of `enqueue.cannot`. */
export type Obstacle = 'foreign' | 'readOnly' | 'locked' | 'schema' | 'lost' | 'connecting'

/** null when there is nothing in the way. */
export function obstacleOf(connection: ConnectionView): Obstacle | null {
  if (connection.profile) return 'foreign'
  if (connection.accessMode === 'read-only') return 'readOnly'
  const { status } = connection.link
  return status === 'live' ? null : status
}
