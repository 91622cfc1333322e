import { AppError, withDeadline, type Clock } from '../../kernel/index.ts'
import type { Renewal, TaskStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import type { Lease, LeaseBook } from './lease-book.ts'
import { Wakeup } from './wakeup.ts'

export interface LeaseKeeperOptions {
  /** On a connection of its own, so that busy claims cannot delay a heartbeat. */
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly book: LeaseBook
  /** Of tasks whose policies say nothing else. */
  readonly leaseMs: number
  /** The task is someone else's, or may be: stop the handler at once. */
  readonly onLost: (lease: Lease) => void
  readonly onCancelRequested: (lease: Lease) => void
}

const noAnswer = (): Error => new AppError('STATEMENT_TIMEOUT', 'operational', 'A heartbeat got no answer in time.')

/** Heartbeats are never further apart than this, so that cancelling a task does not wait for a third of a long lease. */
const longestBeatMs = 5_000

/**
 * Renews all leases in one call, on a timer that depends neither on claims nor on handlers. When renewals fail for so long
 * that the server may give a task away, its handler is stopped before that (FAULTS 7, 20, 24).
 */
export class LeaseKeeper {
  private readonly options: LeaseKeeperOptions
  private readonly stopped = new AbortController()
  private readonly backoff: Backoff
  private readonly beatWakeup: Wakeup
  private readonly guardWakeup: Wakeup
  /** The shortest lease that the loops keep in time. */
  private keptMs: number
  private loops: Promise<unknown> = Promise.resolve()

  constructor(options: LeaseKeeperOptions) {
    this.options = options
    this.keptMs = options.leaseMs
    this.beatWakeup = new Wakeup(options.clock)
    this.guardWakeup = new Wakeup(options.clock)
    const beatMs = this.beatMs()
    this.backoff = new Backoff(options.clock, { firstMs: beatMs / 8, capMs: beatMs })
  }

  start(): void {
    this.loops = Promise.all([this.beatForever(), this.guardForever()])
  }

  async stop(): Promise<void> {
    this.stopped.abort()
    this.beatWakeup.wake()
    this.guardWakeup.wake()
    await this.loops
  }

  /** New leases are in the book: one that is shorter than the others must not wait for a heartbeat that is paced by them. */
  leased(): void {
    if (this.shortestMs() >= this.keptMs) return
    this.beatWakeup.wake()
    this.guardWakeup.wake()
  }

  /** One heartbeat; true when it succeeded. */
  private async beat(): Promise<boolean> {
    const { clock, book, store, database } = this.options
    const leases = book.all()
    if (leases.length === 0) {
      database.idle('heartbeat')
      return true
    }
    const sentAt = clock.monotonic()
    try {
      const work = store
        .renew(leases.map(({ claimed }) => claimed.fence))
        .then((renewal) => this.apply(renewal, sentAt))
      await withDeadline(clock, Math.max(this.shortestMs() / 3, 250), work, noAnswer)
      database.succeeded('heartbeat')
      this.backoff.reset()
      return true
    } catch (error) {
      database.failed('heartbeat', error)
      return false
    }
  }

  private shortestMs(): number {
    return Math.min(this.options.leaseMs, ...this.options.book.all().map(({ claimed }) => claimed.leaseMs))
  }

  private beatMs(): number {
    return Math.min(this.shortestMs() / 3, longestBeatMs)
  }

  private apply(renewal: Renewal, sentAt: number): void {
    const { book, onLost, onCancelRequested } = this.options
    for (const fence of renewal.renewed) {
      const lease = book.find(fence)
      if (lease) lease.deadlineAt = Math.max(lease.deadlineAt, sentAt + lease.claimed.leaseMs)
    }
    for (const fence of renewal.lost) {
      const lease = book.find(fence)
      // One that is being settled learns its fate from that write: it may just have succeeded.
      if (lease?.phase === 'running') onLost(lease)
    }
    for (const fence of renewal.cancelRequested) {
      const lease = book.find(fence)
      if (lease?.phase === 'running') onCancelRequested(lease)
    }
  }

  private async beatForever(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      // Before the heartbeat: a lease that comes while it is sent wakes the pause.
      this.keptMs = this.shortestMs()
      const beatMs = this.beatMs()
      await this.beatWakeup.wait((await this.beat()) ? beatMs : Math.min(beatMs, this.backoff.next()))
    }
  }

  /** Stops handlers whose lease was not renewed in time, whatever the heartbeat is waiting for. */
  private async guardForever(): Promise<void> {
    const { book, onLost } = this.options
    while (!this.stopped.signal.aborted) {
      await this.guardWakeup.wait(this.shortestMs() / 24)
      for (const lease of book.all()) {
        if (lease.phase === 'running' && book.remainingMs(lease) <= lease.claimed.leaseMs / 6) onLost(lease)
      }
    }
  }
}
