import { computed, onBeforeUnmount, watch, type ComputedRef, type Ref } from 'vue'
import type { ConnectionView, QueueReading } from '@contract'
import { rangeMs, type RangeName } from '@/shared/ranges.ts'
import { useAppStore } from './app-store.ts'
import { useConnectionsStore } from './connections-store.ts'
import { useMetricsStore } from './metrics-store.ts'
import type { SeriesRing } from './series-ring.ts'

/** What is known of the shown connection's queue. */
export interface WatchedQueue {
  readonly id: ComputedRef<string>
  readonly connection: ComputedRef<ConnectionView | undefined>
  readonly reading: ComputedRef<QueueReading | null>
  readonly ring: ComputedRef<SeriesRing | null>
  readonly locked: ComputedRef<boolean>
  /** What is shown is the last known picture. */
  readonly stale: ComputedRef<boolean>
}

/** Its series over the range are asked for, and kept up to date, while the page is open. */
export function useWatchedQueue(range: Readonly<Ref<RangeName>>): WatchedQueue {
  const app = useAppStore()
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()
  const id = computed(() => connections.currentId)
  const connection = computed(() => connections.current)
  const locked = computed(() => connection.value?.link.status === 'locked')

  watch(
    [id, range, () => app.link.kind === 'open'],
    ([connectionId, name, open]) => {
      if (open) void metrics.watch(connectionId, rangeMs[name])
    },
    { immediate: true }
  )
  onBeforeUnmount(() => metrics.unwatch())

  return {
    id,
    connection,
    reading: computed(() => metrics.readings.get(id.value) ?? null),
    ring: computed(() => (metrics.ring?.connectionId === id.value ? metrics.ring : null)),
    locked,
    stale: computed(() => locked.value || connection.value?.link.status === 'lost')
  }
}
