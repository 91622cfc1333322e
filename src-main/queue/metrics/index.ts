import type { Clock } from '../../kernel/index.ts'
import type { TaskStore } from '../task-store.ts'
import { meteredStore, RunningAttempts } from './metered-store.ts'
import { startMetricsServer, type MetricsServer } from './metrics-server.ts'
import { QueueMetrics } from './queue-metrics.ts'
import { openWorkerPage, type WatchedWorker } from './worker-page.ts'

export { BoundedLabels, otherLabel } from './bounded-labels.ts'
export { openGaugePage, type GaugeFamily, type GaugeSample } from './gauge-page.ts'
export { startMetricsServer, type MetricsPage, type MetricsServer } from './metrics-server.ts'

export interface ServedWorker {
  readonly worker: WatchedWorker
  readonly port: number
  readonly onProblem: (line: string) => void
}

/** The counted stores of one process, and the way to show what was counted. */
export interface Meter {
  /** Use it in place of `store`. */
  counted(store: TaskStore): TaskStore
  /** The figures with those of `worker`; see `startMetricsServer`. Port 0 takes a free one. */
  serve(page: ServedWorker): Promise<MetricsServer>
}

/** `store` is read at each scrape, at most every 5 s; see docs/metrics.md for the names. */
export function openMeter(options: { readonly store: TaskStore; readonly clock: Clock }): Meter {
  const { store, clock } = options
  const metrics = new QueueMetrics({ clock, read: () => store.read() })
  const attempts = new RunningAttempts()
  return {
    counted: (one) => meteredStore(one, { metrics, clock, attempts }),
    serve: ({ worker, port, onProblem }) => startMetricsServer(openWorkerPage(metrics, worker), port, onProblem)
  }
}
