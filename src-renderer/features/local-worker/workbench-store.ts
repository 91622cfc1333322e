import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type { TaskSummary } from '@contract'
import { useClient } from '@/transport/client.ts'

/** As many as a worker may have slots. */
const mostShown = 64

/** What the local worker runs now. */
export const useWorkbenchStore = defineStore('workbench', () => {
  const running = shallowRef<readonly TaskSummary[]>([])
  let asked = 0

  /** A list that cannot be had is left empty: the page says elsewhere why the queue is out of reach. */
  async function readRunning(connectionId: string, workerId: string | null): Promise<void> {
    const mine = ++asked
    if (workerId === null) {
      running.value = []
      return
    }
    try {
      const filter = { workerId, states: ['RUNNING' as const, 'CANCEL_REQUESTED' as const] }
      const { rows } = await useClient().tasks.list({ connectionId, filter, limit: mostShown })
      if (mine === asked) running.value = rows
    } catch {
      if (mine === asked) running.value = []
    }
  }

  return { running, readRunning }
})
