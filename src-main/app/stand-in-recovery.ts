import { workerAliveMs, type Clock, type QueueReading } from '../kernel/index.ts'
import type { TaskStore } from '../queue/task-store.ts'

const everyMs = 60_000
const batch = 200
const batchesPerRound = 20

/**
 * Recovery while no worker does it: a fleet that died cannot strand its tasks as long as somebody watches. Workers that
 * live recover by themselves.
 */
export class StandInRecovery {
  private readonly clock: Clock
  private readonly lastRound = new Map<string, number>()
  private readonly running = new Set<string>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Returns the ids of the tasks that it moved. Throws what the store throws; the next round is a minute later all the same. */
  async run(connectionId: string, reading: QueueReading, store: TaskStore): Promise<string[]> {
    if (hasLiveWorker(reading) || this.running.has(connectionId) || !this.isDue(connectionId)) return []
    this.running.add(connectionId)
    this.lastRound.set(connectionId, this.clock.monotonic())
    try {
      return await recoverAll(store)
    } finally {
      this.running.delete(connectionId)
    }
  }

  private isDue(connectionId: string): boolean {
    const last = this.lastRound.get(connectionId)
    return last === undefined || this.clock.monotonic() - last >= everyMs
  }
}

function hasLiveWorker({ at, workers }: QueueReading): boolean {
  return workers.some(({ status, lastHeartbeatAt }) => status !== 'stopped' && at - lastHeartbeatAt < workerAliveMs)
}

async function recoverAll(store: TaskStore): Promise<string[]> {
  const ids: string[] = []
  for (let round = 0; round < batchesPerRound; round++) {
    const recovered = await store.recover(batch)
    ids.push(...recovered.map(({ taskId }) => taskId))
    if (recovered.length < batch) break
  }
  return ids
}
