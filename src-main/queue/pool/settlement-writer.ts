import type { Clock, TaskState } from '../../kernel/index.ts'
import type { SettleResult, Settlement, TaskStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import type { Lease, LeaseBook } from './lease-book.ts'
import { Wakeup } from './wakeup.ts'

export interface SettlementWriterOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly book: LeaseBook
  /** Log lines of these tasks must be stored first: the store drops lines of ended attempts. */
  readonly beforeSettle: (settlements: readonly Settlement[]) => Promise<void>
  /** The lease is over: settled, refused (`lost`), or given up because the database was away until its end. */
  readonly onClosed: (lease: Lease, end: TaskState | 'lost' | 'given-up') => void
}

interface Pending {
  readonly lease: Lease
  readonly settlement: Settlement
}

/** What ends within this is settled together. */
const gatherMs = 1
const batchSize = 200

/**
 * Tells the store how attempts ended, in batches, one at a time. A write that fails is repeated with the same fence until the
 * lease may be over; a bookkeeping failure never becomes a failure of the handler (FAULTS 3, 9).
 */
export class SettlementWriter {
  private readonly options: SettlementWriterOptions
  private readonly wakeup: Wakeup
  private readonly backoff: Backoff
  private readonly pending: Pending[] = []
  private closing = false
  /** Monotonic ms. */
  private stopAt = Infinity
  private loop: Promise<void> = Promise.resolve()
  private inFlight = 0

  constructor(options: SettlementWriterOptions) {
    this.options = options
    this.wakeup = new Wakeup(options.clock)
    this.backoff = new Backoff(options.clock, { firstMs: 50, capMs: 2_000 })
  }

  start(): void {
    this.loop = this.run()
  }

  get waiting(): number {
    return this.pending.length + this.inFlight
  }

  add(lease: Lease, settlement: Settlement): void {
    lease.phase = 'settling'
    this.pending.push({ lease, settlement })
    this.wakeup.wake()
  }

  /** Writes what is left, for at most `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.stopAt = this.options.clock.monotonic() + withinMs
    this.closing = true
    this.wakeup.wake()
    await this.loop
  }

  private async run(): Promise<void> {
    while (!this.closing || this.pending.length > 0) {
      if (this.pending.length === 0) {
        await this.wakeup.wait(60_000)
        continue
      }
      await this.options.clock.sleep(gatherMs)
      await this.writeBatch(this.pending.splice(0, batchSize))
    }
  }

  private async writeBatch(batch: readonly Pending[]): Promise<void> {
    const live = batch.filter((entry) => !this.giveUp(entry))
    if (live.length === 0) return
    this.inFlight = live.length
    try {
      const settlements = live.map((entry) => entry.settlement)
      await this.options.beforeSettle(settlements)
      const results = await this.options.store.settle(settlements)
      this.options.database.succeeded('settle')
      this.backoff.reset()
      this.inFlight = 0
      for (const [index, entry] of live.entries()) this.close(entry, results[index])
    } catch (error) {
      this.inFlight = 0
      const problem = this.options.database.failed('settle', error)
      if (problem.kind !== 'operational' && live.length > 1) return this.writeSingly(live)
      this.pending.push(...live)
      await this.options.clock.sleep(this.backoff.next())
    }
  }

  /** One that the store cannot take must not hold up the others. */
  private async writeSingly(batch: readonly Pending[]): Promise<void> {
    for (const entry of batch) await this.writeBatch([entry])
  }

  private close({ lease }: Pending, result: SettleResult | undefined): void {
    this.options.book.remove(lease.claimed.fence)
    this.options.onClosed(lease, result?.state ?? 'lost')
  }

  private giveUp({ lease }: Pending): boolean {
    const stopped = this.options.clock.monotonic() >= this.stopAt
    if (!stopped && this.options.book.remainingMs(lease) > 0) return false
    this.options.book.remove(lease.claimed.fence)
    this.options.onClosed(lease, 'given-up')
    return true
  }
}
