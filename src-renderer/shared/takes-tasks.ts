import { workerAliveMs, type QueueReading, type WorkerRow } from '@contract'

/** Workers that take new tasks. */
export function takingWorkers({ at, workers }: QueueReading): WorkerRow[] {
  return workers.filter(({ status, lastHeartbeatAt }) => status === 'running' && at - lastHeartbeatAt < workerAliveMs)
}

/** Whether any worker, of this process or another, takes new tasks of the queue. False while nothing is known of it. */
export const takesTasks = (reading: QueueReading | null | undefined): boolean =>
  reading ? takingWorkers(reading).length > 0 : false
