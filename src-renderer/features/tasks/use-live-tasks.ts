import { computed, onBeforeUnmount, onMounted, watch, type ComputedRef, type Ref } from 'vue'
import type { QueueReading } from '@contract'
import { useChangesStore } from '@/state/changes-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useLastReading } from '@/state/use-last-reading.ts'
import type { TaskFilters } from './task-filters.ts'
import { useTaskDetailStore } from './task-detail-store.ts'
import { refreshEveryMs, useTaskListStore } from './task-list-store.ts'

export interface LiveTasks {
  readonly reading: ComputedRef<QueueReading | null>
  /** Out of reach, or its password is not known: what is shown is the last that was read. */
  readonly offline: ComputedRef<boolean>
  readonly setVisible: (from: number, to: number) => void
}

/** Keeps list and open task current: asks when the question changes, and again on ticks, on actions and when the page is shown. */
export function useLiveTasks(filters: Ref<TaskFilters>, openId: Ref<string | null>): LiveTasks {
  const connections = useConnectionsStore()
  const changes = useChangesStore()
  const list = useTaskListStore()
  const detail = useTaskDetailStore()
  const id = computed(() => connections.currentId)
  const status = computed(() => connections.current?.link.status)
  const offline = computed(() => status.value === 'lost' || status.value === 'locked')
  const reading = useLastReading()
  const readable = computed(() => connections.loaded && (status.value === 'live' || status.value === 'connecting'))
  let visible = { from: 0, to: 0 }
  let refreshedAt = 0

  async function refreshList(): Promise<void> {
    refreshedAt = Date.now()
    await list.refresh(visible.from, visible.to)
  }

  /** The open task follows each tick, the list some of them, a hidden page none. */
  function onTick(): void {
    if (document.hidden || offline.value) return
    void detail.follow()
    if (Date.now() - refreshedAt >= refreshEveryMs) void refreshList()
  }
  function refreshAll(): void {
    if (document.hidden || !readable.value) return
    void refreshList()
    void detail.refresh()
  }

  watch(
    [id, filters, readable],
    ([connectionId, wanted, can]) => {
      if (can) void list.open(connectionId, wanted)
    },
    { immediate: true }
  )
  watch(
    [id, openId],
    ([connectionId, taskId]) => {
      if (taskId === null) detail.close()
      else void detail.open(connectionId, taskId)
    },
    { immediate: true }
  )
  watch(() => reading.value?.at, onTick)
  watch(
    () => changes.lastTasks,
    (changed) => {
      if (changed?.connectionId === id.value) refreshAll()
    }
  )
  onMounted(() => document.addEventListener('visibilitychange', refreshAll))
  onBeforeUnmount(() => {
    document.removeEventListener('visibilitychange', refreshAll)
    detail.close()
    list.leave()
  })

  return { reading, offline, setVisible: (from, to) => (visible = { from, to }) }
}
