import type { Clock, QueueReading } from '../kernel/index.ts'
import { scheduleWaitMs } from '../queue/pool/index.ts'
import type { ScheduleStore } from '../queue/task-store.ts'
import { hasLiveWorker } from './live-worker.ts'

/** After a round that failed. */
const againMs = 10_000

/** Schedules while no worker looks after them: their tasks are submitted as long as somebody watches, and wait for a worker. */
export class StandInSchedules {
  private readonly clock: Clock
  /** Monotonic ms of the next round; a round under way has none. */
  private readonly nextRound = new Map<string, number>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** With each reading. Returns how many tasks it submitted; throws what the store throws, and tries again ten seconds later. */
  async run(connectionId: string, reading: QueueReading, store: ScheduleStore): Promise<number> {
    if (hasLiveWorker(reading) || this.clock.monotonic() < (this.nextRound.get(connectionId) ?? 0)) return 0
    this.nextRound.set(connectionId, Number.POSITIVE_INFINITY)
    let waitMs = againMs
    try {
      const { submitted, nextInMs } = await store.runSchedules()
      waitMs = scheduleWaitMs(nextInMs, this.clock)
      return submitted.length
    } finally {
      this.nextRound.set(connectionId, this.clock.monotonic() + waitMs)
    }
  }
}
