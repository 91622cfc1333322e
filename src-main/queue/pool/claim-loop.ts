import type { Clock } from '../../kernel/index.ts'
import type { ClaimedTask, LimitedBy, TaskStore } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { DatabaseState } from './database-state.ts'
import { HintBudget } from './hint-budget.ts'
import { LatencyWindow } from './latency-window.ts'
import { PollWatch } from './poll-watch.ts'
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
  /** Takes them on at once. `sentAt`: monotonic ms from which their leases count. */
  readonly onClaimed: (tasks: readonly ClaimedTask[], sentAt: number) => void
}

/** Pause after a poll that brought something but not all that it asked for; doubled with each empty poll up to `pollMs`. */
const flowPauseMs = 5
/** Of those that find another claimer at a limit: without doubling the pause, for that one takes no longer than a claim. */
const mostBusyPolls = 4
/** While work flows, a freed slot waits this long for others, so that claims stay batches. */
const gatherMs = 4

/** Claims as many due tasks as there are free slots, often while there is work and seldom while there is none. */
export class ClaimLoop {
  readonly latency = new LatencyWindow()
  readonly watch: PollWatch
  /** Monotonic ms; null before the first. */
  lastPollAt: number | null = null
  lastClaimAt: number | null = null
  private readonly options: ClaimLoopOptions
  private readonly wakeup: Wakeup
  private readonly backoff: Backoff
  private readonly hints: HintBudget
  private stopping = false
  private quiet = false
  private nudged = false
  private hinted = false
  /** The poll under way, or the next, comes before its time because of a nudge. */
  private early = false
  private flowing = false
  /** Types that the last claim left tasks of to limits: the end of one of them makes room. */
  private limitedTypes: ReadonlySet<string> = new Set()
  /** Since the last claim began: what it counted may have been before their ends. */
  private readonly freedTypes = new Set<string>()
  /** How often in a row it met another claimer under a limit where its own end had made room. */
  private busyPolls = 0
  private pauseMs = flowPauseMs
  private loop: Promise<void> = Promise.resolve()

  constructor(options: ClaimLoopOptions) {
    this.options = options
    this.wakeup = new Wakeup(options.clock)
    this.hints = new HintBudget(options.clock)
    this.watch = new PollWatch(options.clock, options.pollMs)
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

  /** Another process says that there is new work: poll now, but not faster than the budget of hints. */
  hint(): void {
    if (this.hinted) return
    this.hinted = true
    this.wakeup.wake()
  }

  /** While it is quiet no claim begins. */
  setQuiet(quiet: boolean): void {
    this.quiet = quiet
    this.wakeup.wake()
  }

  /** A task of this type is no longer leased by this worker. */
  slotFreed(type: string): void {
    this.freedTypes.add(type)
    // An idle queue is not polled because a task ended: only when the last claim found all that it asked for, or limits kept it from more.
    if (this.flowing || this.hasRoom()) this.wakeup.wake()
  }

  /** Below a limit that cut the last claim short, by an end of this worker's own. Others' ends are met by polls and hints. */
  private hasRoom(): boolean {
    for (const type of this.limitedTypes) if (this.freedTypes.has(type)) return true
    return false
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      await this.untilUseful()
      if (this.stopping) return
      const { pauseMs, failed } = await this.poll()
      await this.pauseFor(pauseMs, !failed)
    }
  }

  /** Returns when it may claim, and there are free slots and types to claim for. */
  private async untilUseful(): Promise<void> {
    let gatherUntil: number | undefined
    while (!this.stopping) {
      const { slots, free } = this.options.capacity()
      const enough = !this.flowing || free === slots || free >= Math.ceil(slots / 4)
      const now = this.options.clock.monotonic()
      if (free > 0) gatherUntil ??= now + gatherMs
      const late = gatherUntil !== undefined && now >= gatherUntil
      const mayClaim = !this.quiet && this.options.types().length > 0
      if (free > 0 && (enough || late) && mayClaim) return
      await this.wakeup.wait(free > 0 && this.flowing && mayClaim ? gatherMs : this.options.pollMs)
    }
  }

  private async poll(): Promise<{ readonly pauseMs: number; readonly failed: boolean }> {
    const { store, clock, database, workerId, leaseMs } = this.options
    const limit = this.options.capacity().free
    const startedAt = clock.monotonic()
    this.nudged = false
    this.hinted = false
    const hadRoom = this.hasRoom()
    this.freedTypes.clear()
    this.lastPollAt = startedAt
    let limited: LimitedBy = { types: [], isBusy: false }
    const onLimited = (by: LimitedBy): void => void (limited = by)
    try {
      const tasks = await store.claim({ workerId, limit, leaseMs, types: this.options.types(), onLimited })
      const now = clock.monotonic()
      this.latency.add(now - startedAt)
      database.succeeded('claim')
      this.backoff.reset()
      if (tasks.length > 0) this.lastClaimAt = now
      else if (this.early) this.watch.note()
      this.options.onClaimed(tasks, startedAt)
      this.limitedTypes = new Set(limited.types)
      const isBusy = limited.isBusy && (hadRoom || this.busyPolls > 0)
      return { pauseMs: this.pauseAfter(tasks.length, { limit, isBusy }), failed: false }
    } catch (error) {
      database.failed('claim', error)
      this.flowing = false
      this.limitedTypes = new Set()
      return { pauseMs: this.backoff.next(), failed: true }
    } finally {
      this.early = false
    }
  }

  /** `isBusy`: it has room under a limit, but another claimer was just taking under it. */
  private pauseAfter(claimed: number, { limit, isBusy }: { readonly limit: number; readonly isBusy: boolean }): number {
    const { pollMs, clock } = this.options
    this.flowing = claimed === limit
    this.busyPolls = claimed === 0 && isBusy && this.busyPolls < mostBusyPolls ? this.busyPolls + 1 : 0
    if (this.flowing) return 0
    const isSoon = claimed > 0 || this.busyPolls > 0
    this.pauseMs = Math.min(pollMs, isSoon ? flowPauseMs : Math.max(flowPauseMs, this.pauseMs * 2))
    return this.pauseMs * (0.8 + 0.4 * clock.random())
  }

  /**
   * Room under a limit ends it early: one poll for each of this worker's settlements at most. So does a hint, unless the last poll failed: hints say
   * nothing of a database that is away.
   */
  private async pauseFor(ms: number, takesHints: boolean): Promise<void> {
    if (ms <= 0) return
    const until = this.options.clock.monotonic() + ms
    while (!this.stopping && !this.nudged) {
      const left = until - this.options.clock.monotonic()
      if (left <= 0) return
      if (this.hasRoom()) return void (this.pauseMs = flowPauseMs)
      const hintMs = takesHints && this.hinted ? this.hints.waitMs() : Infinity
      if (hintMs <= 0) return this.hints.take()
      await this.wakeup.wait(Math.min(left, hintMs))
    }
    this.early = true
    this.pauseMs = flowPauseMs
  }
}
