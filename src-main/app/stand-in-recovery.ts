import type { Clock, QueueReading } from '../kernel/index.ts'
import { recoverLeftBehind } from '../queue/pool/index.ts'
import type { TaskStore } from '../queue/task-store.ts'
import { hasLiveWorker } from './live-worker.ts'

const everyMs = 60_000

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
      const ids: string[] = []
      await recoverLeftBehind({ store, onRecovered: (tasks) => ids.push(...tasks.map(({ taskId }) => taskId)) })
      return ids
    } finally {
      this.running.delete(connectionId)
    }
  }

  private isDue(connectionId: string): boolean {
    const last = this.lastRound.get(connectionId)
    return last === undefined || this.clock.monotonic() - last >= everyMs
  }
}
