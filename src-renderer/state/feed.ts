import type { AppEvent } from '@contract'
import { useClient } from '@/transport/client.ts'
import { useAlertsStore } from './alerts-store.ts'
import { useAppStore } from './app-store.ts'
import { useChangesStore } from './changes-store.ts'
import { useConnectionsStore } from './connections-store.ts'
import { useLocalWorkerStore } from './local-worker-store.ts'
import { useMetricsStore } from './metrics-store.ts'

/** Gives one event to the store that it concerns. */
export function dispatch(event: AppEvent): void {
  switch (event.kind) {
    case 'tick':
      return void useMetricsStore().onTick(event.tick)
    case 'connections':
      useConnectionsStore().replaceAll(event.connections)
      return useAlertsStore().askFor(event.connections.map(({ id }) => id))
    case 'show':
      return useAppStore().show({ connectionId: event.connectionId, at: event.at })
    case 'alerts':
      return useAlertsStore().onEvent(event.alerts)
    case 'localWorker':
      return useLocalWorkerStore().replace(event.localWorker)
    case 'workerLog':
      return useLocalWorkerStore().appendLog(event.lines)
    case 'tasksChanged':
      return useChangesStore().tasksChanged(event.connectionId, event.ids)
    case 'notice':
      return useAppStore().addNotice(event.problem)
  }
}

/**
 * The page's one event stream, for the life of one carrier. What the stream does not repeat (info, log, the picture that may
 * have moved on meanwhile) is asked for once at its start. Ends when the stream does; rejects when it breaks.
 */
export async function feedStores(signal: AbortSignal): Promise<void> {
  await useAppStore().load(signal)
  useAlertsStore().restart()
  const events = await useClient().app.events(undefined, { signal })
  await useLocalWorkerStore().load()
  void useMetricsStore().askSnapshot()
  for await (const event of events) dispatch(event)
}
