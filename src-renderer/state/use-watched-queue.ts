import { computed, onBeforeUnmount, watch, type ComputedRef, type Ref } from 'vue'
import type { ConnectionView, QueueReading } from '@contract'
import { rangeMs, type RangeName } from '@/shared/ranges.ts'
import { useNow } from '@/shared/format/use-now.ts'
import { useAppStore } from './app-store.ts'
import { useConnectionsStore } from './connections-store.ts'
import { livePicture } from './live-picture.ts'
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
  /** The stretch of time that its live picture shows. */
  readonly live: ComputedRef<{ readonly from: number; readonly to: number }>
}

/** Its series over the range are asked for, and kept up to date, while the page is open. */
export function useWatchedQueue(range: Readonly<Ref<RangeName>>): WatchedQueue {
  const app = useAppStore()
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()
  const id = computed(() => connections.currentId)
  const connection = computed(() => connections.current)
  const now = useNow()
  const reading = computed(() => metrics.readings.get(id.value) ?? null)
  const ring = computed(() => (metrics.ring?.connectionId === id.value ? metrics.ring : null))
  const locked = computed(() => connection.value?.link.status === 'locked')
  const stale = computed(() => locked.value || connection.value?.link.status === 'lost')

  watch(
    [id, range, () => app.link.kind === 'open'],
    ([connectionId, name, open]) => {
      if (open) void metrics.watch(connectionId, rangeMs[name])
    },
    { immediate: true }
  )
  onBeforeUnmount(() => metrics.unwatch())

  const live = computed(() =>
    livePicture({
      ring: ring.value,
      reading: reading.value,
      rangeMs: rangeMs[range.value],
      stale: stale.value,
      now: now.value
    })
  )
  return { id, connection, reading, ring, locked, stale, live }
}
