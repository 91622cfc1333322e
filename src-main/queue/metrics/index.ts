import type { Clock } from '../../kernel/index.ts'
import type { WorkerStatus } from '../pool/index.ts'
import type { TaskStore } from '../task-store.ts'
import { meteredStore, RunningAttempts } from './metered-store.ts'
import { startMetricsServer, type MetricsServer } from './metrics-server.ts'
import { QueueMetrics } from './queue-metrics.ts'

export { BoundedLabels, otherLabel } from './bounded-labels.ts'
export { openGaugePage, type GaugeFamily, type GaugeSample } from './gauge-page.ts'
export { startMetricsServer, type MetricsPage, type MetricsServer } from './metrics-server.ts'

/** The counted stores of one process, and the way to show what was counted. */
export interface Meter {
  /** Use it in place of `store`. */
  counted(store: TaskStore): TaskStore
  /** Whose worker's status is shown. */
  watch(worker: { status(): WorkerStatus }): void
  /** See `startMetricsServer`; port 0 takes a free one. */
  serve(port: number, onProblem: (line: string) => void): Promise<MetricsServer>
}

/** `store` is read at each scrape, at most every 5 s; see docs/metrics.md for the names. */
export function openMeter(options: { readonly store: TaskStore; readonly clock: Clock }): Meter {
  const { store, clock } = options
  let worker: { status(): WorkerStatus } | undefined
  const metrics = new QueueMetrics({ clock, read: () => store.read(), status: () => worker?.status() })
  const attempts = new RunningAttempts()
  return {
    counted: (one) => meteredStore(one, { metrics, clock, attempts }),
    watch: (one) => void (worker = one),
    serve: (port, onProblem) => startMetricsServer(metrics, port, onProblem)
  }
}
