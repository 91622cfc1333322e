import { computed, onBeforeUnmount, watch, type ComputedRef } from 'vue'
import type { QueueReading } from '@contract'
import { rangeMs } from '@/shared/ranges.ts'
import { useAppStore } from './app-store.ts'
import { useConnectionsStore } from './connections-store.ts'
import { useMetricsStore } from './metrics-store.ts'

/**
 * The newest reading of the shown connection: the last one that history has is here before the first tick, and instead of one while the
 * database is away or its password is not known. null when there never was one.
 */
export function useLastReading(): ComputedRef<QueueReading | null> {
  const app = useAppStore()
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()

  watch(
    [() => connections.currentId, () => app.link.kind === 'open'],
    ([id, open]) => {
      if (open && id !== '' && !metrics.readings.has(id)) void metrics.watch(id, rangeMs['15m'])
    },
    { immediate: true }
  )
  onBeforeUnmount(() => metrics.unwatch())
  return computed(() => metrics.readings.get(connections.currentId) ?? null)
}
