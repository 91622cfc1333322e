import { workerAliveMs, type QueueReading } from '@contract'

/** Whether any worker, of this process or another, takes new tasks of the queue. False while nothing is known of it. */
export function takesTasks(reading: QueueReading | null | undefined): boolean {
  if (!reading) return false
  const { at, workers } = reading
  return workers.some((one) => one.status === 'running' && at - one.lastHeartbeatAt < workerAliveMs)
}
