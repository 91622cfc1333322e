import { Gauge, Registry } from 'prom-client'
import type { WorkerStatus } from '../pool/index.ts'
import type { MetricsPage } from './metrics-server.ts'

export interface WatchedWorker {
  status(): WorkerStatus
}

/** What its process counts, with the gauges of one worker: a process may have several, each with a page of its own. */
export function openWorkerPage(counted: MetricsPage, worker: WatchedWorker): MetricsPage {
  const registry = new Registry()
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `taskdeck_${name}`, help, registers: [registry] })
  const slots = gauge('worker_slots', 'Tasks that this worker runs at once at most.')
  const running = gauge('worker_tasks_running', 'Tasks whose handler runs now in this worker.')
  const databaseUp = gauge('worker_database_up', '1 while the database answers this worker, else 0.')
  return {
    contentType: counted.contentType,
    text: async () => {
      const status = worker.status()
      slots.set(status.slots)
      running.set(status.running)
      databaseUp.set(status.database === 'ok' ? 1 : 0)
      const own = await registry.metrics()
      return `${await counted.text()}${own}`
    }
  }
}
