import type { Clock } from '../kernel/index.ts'
import type { Operations } from '../operations/index.ts'
import type { TaskStore } from '../queue/task-store.ts'

const everyMs = 60_000

/**
 * Gives intents of the audit log that never got an outcome one, again and again: one that another instance left behind is too young to be told
 * from a running one at the start, and one of this run stays open when the reply to its commit was lost.
 */
export class OpenIntents {
  private readonly operations: Pick<Operations, 'reconcile'>
  private readonly clock: Clock
  private readonly lastRound = new Map<string, number>()
  private readonly running = new Set<string>()

  constructor(operations: Pick<Operations, 'reconcile'>, clock: Clock) {
    this.operations = operations
    this.clock = clock
  }

  /** At most once a minute for a connection, one after the other. Returns how many were settled; throws what the audit log throws. */
  async settle(connectionId: string, store: Pick<TaskStore, 'get'>): Promise<number> {
    const last = this.lastRound.get(connectionId)
    const isDue = last === undefined || this.clock.monotonic() - last >= everyMs
    if (!isDue || this.running.has(connectionId)) return 0
    this.running.add(connectionId)
    this.lastRound.set(connectionId, this.clock.monotonic())
    try {
      return await this.operations.reconcile((id) => (id === connectionId ? store : undefined))
    } finally {
      this.running.delete(connectionId)
    }
  }
}
