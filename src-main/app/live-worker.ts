import { workerAliveMs, type QueueReading } from '../kernel/index.ts'

/** Whether some worker looks after the queue by itself: recovery and schedules are among what each of them does. */
export function hasLiveWorker({ at, workers }: QueueReading): boolean {
  return workers.some(({ status, lastHeartbeatAt }) => status !== 'stopped' && at - lastHeartbeatAt < workerAliveMs)
}
