import type { Clock } from '../../kernel/index.ts'
import type { ClaimedTask, TaskStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import { LatencyWindow } from './latency-window.ts'
import { Wakeup } from './wakeup.ts'

export interface ClaimLoopOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly workerId: string
  readonly leaseMs: number
  readonly pollMs: number
  readonly types: () => readonly string[]
  /** Slots, and how many of them hold no lease. */
  readonly capacity: () => { slots: number; free: number }
  /** Takes them on at once; `deadlineAt` is the monotonic end of the leases. */
  readonly onClaimed: (tasks: readonly ClaimedTask[], deadlineAt: number) => void
}

/** Pause after a poll that brought something but not all that it asked for; doubled with each empty poll up to `pollMs`. */
const flowPauseMs = 5
/** While work flows, a freed slot waits this long for others, so that claims stay batches. */
const gatherMs = 4

/** Claims as many due tasks as there are free slots, often while there is work and seldom while there is none. */
export class ClaimLoop {
  readonly latency = new LatencyWindow()
  /** Monotonic ms; null before the first. */
  lastPollAt: number | null = null
  lastClaimAt: number | null = null
  private readonly options: ClaimLoopOptions
  private readonly wakeup: Wakeup
  private readonly backoff: Backoff
  private stopping = false
  private nudged = false
  private flowing = false
  private pauseMs = flowPauseMs
  private loop: Promise<void> = Promise.resolve()

  constructor(options: ClaimLoopOptions) {
    this.options = options
    this.wakeup = new Wakeup(options.clock)
    this.backoff = new Backoff(options.clock, {
      firstMs: 200,
      capMs: Math.max(1_000, Math.min(15_000, options.pollMs * 4))
    })
  }

  start(): void {
    this.loop = this.run()
  }

  /** No claim begins after this; resolves when the one in flight has been taken on. */
  async stop(): Promise<void> {
    this.stopping = true
    this.wakeup.wake()
    await this.loop
  }

  /** New work is likely: poll now. */
  nudge(): void {
    this.nudged = true
    this.wakeup.wake()
  }

  slotFreed(): void {
    // An idle queue is not polled because a task ended: only when the last claim found all that it asked for.
    if (this.flowing) this.wakeup.wake()
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      await this.untilUseful()
      if (this.stopping) return
      await this.pauseFor(await this.poll())
    }
  }

  /** Returns when there are free slots and types to claim for. */
  private async untilUseful(): Promise<void> {
    let gatherUntil: number | undefined
    while (!this.stopping) {
      const { slots, free } = this.options.capacity()
      const enough = !this.flowing || free === slots || free >= Math.ceil(slots / 4)
      const now = this.options.clock.monotonic()
      if (free > 0) gatherUntil ??= now + gatherMs
      const late = gatherUntil !== undefined && now >= gatherUntil
      if (free > 0 && (enough || late) && this.options.types().length > 0) return
      await this.wakeup.wait(free > 0 && this.flowing ? gatherMs : this.options.pollMs)
    }
  }

  /** Milliseconds to wait before the next poll. */
  private async poll(): Promise<number> {
    const { store, clock, database, workerId, leaseMs } = this.options
    const limit = this.options.capacity().free
    const startedAt = clock.monotonic()
    this.nudged = false
    this.lastPollAt = startedAt
    try {
      const tasks = await store.claim({ workerId, limit, leaseMs, types: this.options.types() })
      const now = clock.monotonic()
      this.latency.add(now - startedAt)
      database.succeeded('claim')
      this.backoff.reset()
      if (tasks.length > 0) this.lastClaimAt = now
      this.options.onClaimed(tasks, startedAt + leaseMs)
      return this.pauseAfter(tasks.length, limit)
    } catch (error) {
      database.failed('claim', error)
      this.flowing = false
      return this.backoff.next()
    }
  }

  private pauseAfter(claimed: number, limit: number): number {
    const { pollMs, clock } = this.options
    this.flowing = claimed === limit
    if (this.flowing) return 0
    this.pauseMs = Math.min(pollMs, claimed > 0 ? flowPauseMs : Math.max(flowPauseMs, this.pauseMs * 2))
    return this.pauseMs * (0.8 + 0.4 * clock.random())
  }

  private async pauseFor(ms: number): Promise<void> {
    if (ms <= 0) return
    const until = this.options.clock.monotonic() + ms
    while (!this.stopping && !this.nudged) {
      const left = until - this.options.clock.monotonic()
      if (left <= 0) return
      await this.wakeup.wait(left)
    }
    this.pauseMs = flowPauseMs
  }
}
