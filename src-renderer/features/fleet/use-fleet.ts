import { shallowRef, watch, type ShallowRef } from 'vue'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { useAppStore } from '@/state/app-store.ts'
import { useConnectionsStore } from '@/state/connections-store.ts'
import { useMetricsStore } from '@/state/metrics-store.ts'
import { useNow } from '@/shared/format/use-now.ts'
import { fleetRow, worstFirst, type FleetRow } from './fleet-rows.ts'
import { useFleetStore } from './fleet-store.ts'

/**
 * All connections, worst first; null until they are known. Made once a second, and not with each reading: thirty connections send
 * fifteen readings a second, and nobody reads that fast.
 */
export function useFleet(): ShallowRef<readonly FleetRow[] | null> {
  const app = useAppStore()
  const alerts = useAlertsStore()
  const connections = useConnectionsStore()
  const metrics = useMetricsStore()
  const fleet = useFleetStore()
  const now = useNow()
  const rows = shallowRef<readonly FleetRow[] | null>(null)

  function rebuild(): void {
    if (!connections.loaded) return
    rows.value = worstFirst(
      connections.all.map((connection) => {
        const reading = metrics.readings.get(connection.id)
        if (reading) fleet.follow(connection.id, reading)
        return fleetRow({
          connection,
          reading: reading ?? fleet.lastKnown.get(connection.id) ?? null,
          alerts: alerts.states.get(connection.id),
          now: now.value,
          appAnswers: app.link.kind === 'open'
        })
      })
    )
  }

  watch(
    [() => app.link.kind, () => connections.all.map(({ id }) => id).join(' ')],
    ([link], before) => {
      if (link !== 'open') return
      if (before[0] !== undefined && before[0] !== 'open') fleet.restart()
      fleet.load(connections.all.map(({ id }) => id))
    },
    { immediate: true }
  )
  // A link that changes, or a first picture from history, is not waited for.
  watch(
    [
      now,
      () => app.link.kind,
      () => connections.all.map(({ id, link }) => `${id} ${link.status}`).join(),
      () => fleet.lastKnown.size
    ],
    rebuild,
    { immediate: true }
  )
  return rows
}
