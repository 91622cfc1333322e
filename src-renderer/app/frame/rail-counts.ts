import { computed, type ComputedRef } from 'vue'
import { workerAliveMs } from '@contract'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useLocalWorkerStore } from '@/state/local-worker-store.ts'
import { useMetricsStore } from '@/state/metrics-store.ts'
import { firingCount } from './firing-count.ts'
import type { PageEntry } from '../navigation.ts'

export interface RailCount {
  readonly text: string
  readonly tone: 'subtle' | 'warn' | 'bad'
}

/** What stands beside a page's name: workers alive of known, alerts that fire, slots of the local worker in use. */
export function useRailCounts(): ComputedRef<Partial<Record<PageEntry['name'], RailCount>>> {
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()
  const local = useLocalWorkerStore()
  const alerts = useAlertsStore()
  return computed(() => {
    const reading = metrics.readings.get(connections.currentId)
    const known = reading?.workers.filter((worker) => worker.status !== 'stopped') ?? []
    const alive = known.filter((worker) => reading && reading.at - worker.lastHeartbeatAt < workerAliveMs)
    const { view } = local
    const firing = firingCount(alerts.states.get(connections.currentId))
    return {
      workers:
        known.length > 0
          ? { text: `${alive.length} / ${known.length}`, tone: alive.length < known.length ? 'warn' : 'subtle' }
          : undefined,
      alerts: firing > 0 ? { text: String(firing), tone: 'bad' } : undefined,
      'local-worker':
        view && view.status !== 'stopped' ? { text: `${view.running} / ${view.slots}`, tone: 'subtle' } : undefined
    }
  })
}
