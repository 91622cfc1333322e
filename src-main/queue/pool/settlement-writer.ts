import type { AppError, Clock, ErrorCode, MaskText, TaskState } from '../../kernel/index.ts'
import type { SettleResult, Settlement, TaskStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import { attemptErrorOf, maskedError } from './error-classes.ts'
import type { Lease, LeaseBook } from './lease-book.ts'
import { Wakeup } from './wakeup.ts'

export interface SettlementWriterOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly book: LeaseBook
  readonly maskText: MaskText
  /** Log lines of these tasks must be stored first: the store drops lines of ended attempts. */
  readonly beforeSettle: (settlements: readonly Settlement[]) => Promise<void>
  /** The store will not take this outcome. Another one is written instead, or the lease is given up. */
  readonly onRefused: (lease: Lease, problem: AppError) => void
  /** The lease is over: settled, refused (`lost`), or given up because the store did not take its outcome. */
  readonly onClosed: (lease: Lease, end: TaskState | 'lost' | 'given-up') => void
}

interface Pending {
  readonly lease: Lease
  readonly settlement: Settlement
  /** Since its batch was refused it is written alone, so that it cannot take others with it; undefined before that. */
  readonly alone?: {
    readonly refusals: number
    /** Monotonic ms. */
    readonly dueAt: number
  }
}

/** What ends within this is settled together. */
const gatherMs = 1
const batchSize = 200

/** The store answered and did not take these very values: what would be refused again tomorrow. All else passes, or concerns all. */
const refusalCodes: readonly ErrorCode[] = ['SQL_FAILED', 'INVALID_INPUT', 'BUG']
/** Between the tries of one that was refused alone: together long enough for a cluster that refuses everything for a moment. */
const refusedAgainMs = [500, 1_000, 2_000, 4_000] as const

/**
 * Tells the store how attempts ended, in batches, one at a time. A write that fails is repeated with the same fence until the
 * lease may be over; a bookkeeping failure never becomes a failure of the handler (FAULTS 3, 9). The one exception is an outcome
 * that the store refuses again and again: nothing else would ever end that attempt.
 */
export class SettlementWriter {
  private readonly options: SettlementWriterOptions
  private readonly wakeup: Wakeup
  private readonly backoff: Backoff
  private pending: Pending[] = []
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
      const pauseMs = this.untilDueMs()
      if (pauseMs > 0) {
        await this.wakeup.wait(pauseMs)
        continue
      }
      await this.options.clock.sleep(gatherMs)
      await this.write(this.takeDue())
      if (this.pending.length === 0) this.options.database.idle('settle')
    }
  }

  /** Milliseconds until there is something to write or to give up. */
  private untilDueMs(): number {
    const now = this.options.clock.monotonic()
    const dueAt = Math.min(...this.pending.map(({ alone }) => alone?.dueAt ?? now))
    return Math.min(60_000, Math.min(dueAt, this.stopAt) - now)
  }

  /** One that has to go alone and is due, or else all the others up to a batch. */
  private takeDue(): Pending[] {
    const now = this.options.clock.monotonic()
    const stopped = now >= this.stopAt
    const single = this.pending.find(({ alone }) => alone && (stopped || alone.dueAt <= now))
    const taken = single ? [single] : this.pending.filter(({ alone }) => !alone).slice(0, batchSize)
    const gone = new Set(taken)
    this.pending = this.pending.filter((entry) => !gone.has(entry))
    return taken
  }

  private async write(batch: readonly Pending[]): Promise<void> {
    const live = batch.filter((entry) => !this.isOver(entry))
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
      await this.failed(live, this.options.database.failed('settle', error))
    }
  }

  private async failed(batch: readonly Pending[], problem: AppError): Promise<void> {
    if (!refusalCodes.includes(problem.code)) {
      this.pending.push(...batch)
      return this.options.clock.sleep(this.backoff.next())
    }
    const [first] = batch
    if (first && batch.length === 1) return this.refused(first, problem)
    const dueAt = this.options.clock.monotonic()
    for (const { lease, settlement } of batch) this.pending.push({ lease, settlement, alone: { refusals: 0, dueAt } })
  }

  /** One that the store did not take alone. It is not slept for here: the others go on. */
  private refused({ lease, settlement, alone }: Pending, problem: AppError): void {
    const { clock, maskText, onRefused } = this.options
    const refusals = (alone?.refusals ?? 0) + 1
    const pauseMs = refusedAgainMs[refusals - 1] ?? 0
    const again = { refusals, dueAt: clock.monotonic() + pauseMs }
    if (refusals <= refusedAgainMs.length) return void this.pending.push({ lease, settlement, alone: again })
    // What is written instead is refused as well.
    if (refusals > refusedAgainMs.length + 1) return this.giveUp(lease)
    onRefused(lease, problem)
    const instead = insteadOf(settlement, problem, maskText)
    if (instead) this.pending.push({ lease, settlement: instead, alone: again })
    else this.giveUp(lease)
  }

  private close({ lease }: Pending, result: SettleResult | undefined): void {
    this.options.book.remove(lease.claimed.fence)
    this.options.onClosed(lease, result?.state ?? 'lost')
  }

  private isOver({ lease }: Pending): boolean {
    const stopped = this.options.clock.monotonic() >= this.stopAt
    if (!stopped && this.options.book.remainingMs(lease) > 0) return false
    this.giveUp(lease)
    return true
  }

  /** Its lease is not renewed any more, so that recovery ends the attempt. */
  private giveUp(lease: Lease): void {
    this.options.book.remove(lease.claimed.fence)
    this.options.onClosed(lease, 'given-up')
  }
}

/**
 * The same end of the attempt with nothing in it that a database could refuse; undefined when there was nothing in it before.
 * What the handler returned cannot be kept, and running it again would return it again: the task fails.
 */
function insteadOf({ fence, ...ended }: Settlement, problem: AppError, mask: MaskText): Settlement | undefined {
  if (ended.outcome === 'HANDED_BACK' || ended.outcome === 'CANCELLED') return undefined
  const message = `The database did not take the outcome ${ended.outcome} of this attempt: ${problem.message}`
  const errorClass = ended.outcome === 'RETRY' ? ended.error.class : 'final'
  const error = maskedError(attemptErrorOf('OUTCOME_REFUSED', message, errorClass), mask)
  if (ended.outcome === 'RETRY') return { fence, outcome: 'RETRY', error, delayMs: ended.delayMs }
  return { fence, outcome: 'FAILED', error }
}
