import { AppError, pause, withDeadline, type Clock } from '../../kernel/index.ts'
import type { Renewal, TaskStore, WorkerReport } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import type { Lease, LeaseBook } from './lease-book.ts'

export interface LeaseKeeperOptions {
  /** On a connection of its own, so that busy claims cannot delay a heartbeat. */
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly book: LeaseBook
  readonly leaseMs: number
  readonly report: () => WorkerReport
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
  private readonly beatMs: number
  private loops: Promise<unknown> = Promise.resolve()

  constructor(options: LeaseKeeperOptions) {
    this.options = options
    this.beatMs = Math.min(options.leaseMs / 3, longestBeatMs)
    this.backoff = new Backoff(options.clock, { firstMs: this.beatMs / 8, capMs: this.beatMs })
  }

  start(): void {
    this.loops = Promise.all([this.beatForever(), this.guardForever()])
  }

  async stop(): Promise<void> {
    this.stopped.abort()
    await this.loops
  }

  /** The last word after `stop`. Renews nothing: what could not be settled is to be recovered as soon as its lease ends. */
  async reportLast(): Promise<void> {
    await this.tell(() => this.sendReport())
  }

  /** One heartbeat; true when it succeeded. */
  private beat(): Promise<boolean> {
    const { clock, book, leaseMs } = this.options
    const leases = book.all()
    const sentAt = clock.monotonic()
    return this.tell(async () => {
      const work = this.renew(leases, leaseMs).then((renewal) => this.apply(renewal, sentAt))
      await withDeadline(clock, Math.max(leaseMs / 3, 250), work, noAnswer)
      await this.sendReport()
    })
  }

  private async tell(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      this.options.database.succeeded('heartbeat')
      this.backoff.reset()
      return true
    } catch (error) {
      this.options.database.failed('heartbeat', error)
      return false
    }
  }

  private sendReport(): Promise<void> {
    const { store, clock, leaseMs, report } = this.options
    return withDeadline(clock, Math.max(leaseMs / 3, 1_000), store.reportWorker(report()), noAnswer)
  }

  private async renew(leases: readonly Lease[], leaseMs: number): Promise<Renewal> {
    if (leases.length === 0) return { renewed: [], lost: [], cancelRequested: [] }
    return this.options.store.renew(
      leases.map((lease) => lease.claimed.fence),
      leaseMs
    )
  }

  private apply(renewal: Renewal, sentAt: number): void {
    const { book, leaseMs, onLost, onCancelRequested } = this.options
    for (const fence of renewal.renewed) {
      const lease = book.find(fence)
      if (lease) lease.deadlineAt = Math.max(lease.deadlineAt, sentAt + leaseMs)
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
    for (;;) {
      const pauseMs = (await this.beat()) ? this.beatMs : this.backoff.next()
      if (!(await pause(this.options.clock, pauseMs, this.stopped.signal))) return
    }
  }

  /** Stops handlers whose lease was not renewed in time, whatever the heartbeat is waiting for. */
  private async guardForever(): Promise<void> {
    const { clock, book, leaseMs, onLost } = this.options
    while (await pause(clock, leaseMs / 24, this.stopped.signal)) {
      for (const lease of book.all()) {
        if (lease.phase === 'running' && book.remainingMs(lease) <= leaseMs / 6) onLost(lease)
      }
    }
  }
}
