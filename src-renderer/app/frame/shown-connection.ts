import { computed, type ComputedRef } from 'vue'
import { useRoute } from 'vue-router'
import type { ConnectionView } from '@contract'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useLocalWorkerStore } from '@/state/local-worker-store.ts'

/**
 * The connection that the frame speaks of: the one that the page acts on. The local worker's page acts on the queue that the worker
 * works on, whichever connection was open before; the fleet's page is about all of them.
 */
export function useShownConnection(): ComputedRef<ConnectionView | undefined> {
  const route = useRoute()
  const connections = useConnectionsStore()
  const worker = useLocalWorkerStore()
  return computed(() => {
    if (route.name === 'fleet') return undefined
    return route.name === 'local-worker' ? connections.byId(worker.targetId) : connections.current
  })
}
