import { availableParallelism } from 'node:os'
import { pause, type Clock } from '../../kernel/index.ts'
import type { ClaimedTask } from '../task-store.ts'
import { Backoff } from './backoff.ts'
import type { ThreadStart } from './handler-thread-link.ts'
import type { InterruptReason } from './handler.ts'
import { PoolJob, type JobEnd } from './pool-job.ts'
import { PoolThread, type PoolThreadListener, type ThreadRequest } from './pool-thread.ts'
import { packSize } from './task-pack.ts'
import { mayStart, needsThread, needsThreadAtOnce, surplusThreads, unneededThreads, type Pace } from './thread-need.ts'
import { TypeDurations } from './type-durations.ts'

export interface ThreadPoolListener {
  /** The handler begins; told of every task with `watchAll`, else of those with a timeout. */
  started(job: PoolJob): void
  /** Exactly once for each submitted task. */
  ended(job: PoolJob, end: JobEnd): void
  request(job: PoolJob, request: ThreadRequest): void
  note(level: 'info' | 'warn' | 'error', message: string, taskId: string | null): void
}

export interface ThreadPoolOptions {
  readonly clock: Clock
  readonly slots: number
  readonly start: ThreadStart
  /** After its timeout a handler may take this long to stop by itself. */
  readonly timeoutGraceMs: number
  /** Have each task's beginning told: a message more for each. */
  readonly watchAll: boolean
  readonly listener: ThreadPoolListener
}

/** A thread that got several tasks and ended none of them for this long gives back what it has not started. */
const stallMs = 5
/** A thread must be ready within this. */
const readyMs = 30_000
/** Threads that are at one task for this long have their heap looked at, this often. */
const heapCheckMs = 200

/**
 * Runs claimed tasks in handler threads: one at a time in each, at most `slots` threads, started when they are needed.
 * Tasks of types that are known to be quick are handed over in packs (see docs/decisions/0002-handler-threads.md).
 */
export class ThreadPool implements PoolThreadListener {
  private readonly options: ThreadPoolOptions
  private readonly threads = new Set<PoolThread>()
  /** Threads that were asked to end, ready or not. */
  private readonly dismissed = new WeakSet<PoolThread>()
  /** Idle threads, the most recently used last; those above may become idle long enough to end. */
  private readonly idle: PoolThread[] = []
  private readonly queue: PoolJob[] = []
  private readonly durations = new TypeDurations()
  private readonly startBackoff: Backoff
  private readonly stopped = new AbortController()
  private readonly cores = Math.max(1, availableParallelism())
  private slots: number
  /** Running mean of how much later than asked its timer comes, while tasks wait. */
  private lagMs = 0
  private start: ThreadStart
  private watching = false
  private watchingHeaps = false
  private waitingToStart = false
  /** The last start failed: one thread at a time is tried, whether tasks wait or not, until one is ready. */
  startsFail = false

  constructor(options: ThreadPoolOptions) {
    this.options = options
    this.slots = options.slots
    this.start = options.start
    this.startBackoff = new Backoff(options.clock, { firstMs: 200, capMs: 30_000 })
  }

  get threadCount(): number {
    return this.threads.size
  }

  /** How many tasks it can take on, those that it has included: all its slots, or as many as have a thread while none starts. */
  get room(): number {
    if (!this.startsFail) return this.slots
    return Math.min(this.slots, [...this.threads].filter(({ wasReady, retired }) => wasReady && !retired).length)
  }

  /** Submitted and not begun. */
  get queuedCount(): number {
    return [...this.threads].reduce((sum, thread) => sum + Math.max(0, thread.jobCount - 1), this.queue.length)
  }

  submit(tasks: readonly ClaimedTask[]): PoolJob[] {
    const now = this.options.clock.monotonic()
    const jobs = tasks.map((task) => new PoolJob(task, now, this.options.watchAll))
    this.queue.push(...jobs)
    this.dispatch()
    return jobs
  }

  /** Asks a job to stop; when it still runs after `graceMs`, its thread is ended. `ended` follows in any case. */
  interrupt(job: PoolJob, reason: InterruptReason, graceMs: number): void {
    if (job.isDone) return
    if (job.interrupted === undefined || reason === 'lease-lost') job.interrupted = reason
    const place = this.queue.indexOf(job)
    if (place >= 0) this.queue.splice(place, 1)
    const thread = [...this.threads].find((candidate) => candidate.holds(job))
    if (place >= 0 || !thread || thread.takeBack(job)) return this.finish(job, { status: 'unstarted' })
    thread.interrupt(job, reason)
    this.later(graceMs, job.done, () => void thread.terminate())
  }

  /** Ends every job that no thread has begun, as interrupted by `reason`. */
  dropUnstarted(reason: InterruptReason): void {
    const queued = this.queue.splice(0)
    for (const job of [...queued, ...[...this.threads].flatMap((thread) => thread.takeBackUnstarted())]) {
      job.interrupted ??= reason
      this.finish(job, { status: 'unstarted' })
    }
  }

  resize(slots: number): void {
    this.slots = slots
    this.retireSurplus()
    this.dispatch()
  }

  /** From now on tasks get threads with this configuration; the old ones end when they are idle. */
  reconfigure(start: ThreadStart): void {
    this.start = start
    for (const thread of this.threads) {
      this.dismiss(thread)
      this.requeue(thread.takeBackUnstarted())
    }
    this.dispatch()
  }

  /** Ends threads that nothing needed for a while. */
  trim(): void {
    const { slots, cores } = this
    const bounds = { now: this.options.clock.monotonic(), slots, cores }
    for (const thread of unneededThreads([...this.threads], bounds)) this.dismiss(thread)
  }

  /** Ends every thread; jobs that still run end as `thread-ended`. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await Promise.all([...this.threads].map((thread) => thread.terminate()))
  }

  threadReady(thread: PoolThread): void {
    this.startBackoff.reset()
    this.startsFail = false
    this.idle.push(thread)
    this.dispatch()
  }

  started(job: PoolJob): void {
    const { timeoutMs } = job.claimed
    this.options.listener.started(job)
    if (timeoutMs === null) return
    this.later(timeoutMs, job.done, () => this.interrupt(job, 'timeout', this.options.timeoutGraceMs))
  }

  jobEnded(job: PoolJob, end: JobEnd, durationMs: number | null): void {
    if (durationMs !== null) this.durations.add(job.claimed.type, durationMs)
    this.finish(job, end)
  }

  threadIdle(thread: PoolThread): void {
    this.idle.push(thread)
    if (this.threads.size > this.slots) this.retireSurplus()
    this.dispatch()
  }

  request(job: PoolJob, request: ThreadRequest): void {
    this.options.listener.request(job, request)
  }

  note(level: 'info' | 'warn', message: string, job: PoolJob | undefined): void {
    this.options.listener.note(level, message, job?.claimed.fence.taskId ?? null)
  }

  tainted(thread: PoolThread): void {
    this.requeue(thread.takeBackUnstarted())
    this.dispatch()
  }

  threadEnded(thread: PoolThread, unstarted: readonly PoolJob[]): void {
    this.threads.delete(thread)
    this.requeue(unstarted)
    if (this.stopped.signal.aborted) return
    if (thread.wasReady || this.dismissed.has(thread)) return this.dispatch()
    const message = 'A handler thread did not start. No tasks are claimed for it until one does; the next try follows.'
    this.options.listener.note('error', message, null)
    this.startsFail = true
    // Their leases would be kept for as long as no thread starts, and another worker may have one.
    for (const job of this.queue.splice(0)) this.finish(job, { status: 'unstarted' })
    this.waitingToStart = true
    this.later(this.startBackoff.next(), this.stopped.signal, () => {
      this.waitingToStart = false
      this.dispatch()
    })
  }

  private finish(job: PoolJob, end: JobEnd): void {
    job.finish()
    this.options.listener.ended(job, end)
  }

  private requeue(jobs: readonly PoolJob[]): void {
    this.queue.unshift(...jobs)
  }

  private dispatch(): void {
    if (this.stopped.signal.aborted) return
    while (this.queue.length > 0) {
      const thread = this.idle.pop()
      if (!thread) break
      if (!thread.available) continue
      const free = Math.min(this.idle.length + 1, this.cores)
      const pack = this.queue.splice(0, packSize(this.queue, this.durations, free))
      thread.run(pack)
      if (pack.length > 1) void this.watchStalls()
    }
    const next = this.queue[0]
    const isNeeded = next !== undefined && needsThreadAtOnce([...this.threads], this.paceOf(next), this.cores)
    if (isNeeded || this.startsFail) this.startThread()
    if (next) void this.watchStalls()
  }

  private startThread(): void {
    const atOnce = this.startsFail ? 1 : this.cores
    if (this.waitingToStart || !mayStart([...this.threads], { slots: this.slots, atOnce })) return
    const starting = [...this.threads].filter((thread) => !thread.wasReady).length
    const thread = new PoolThread(this.start, this.options.clock, this)
    this.threads.add(thread)
    void this.watchHeaps()
    this.later(readyMs, this.stopped.signal, () => {
      if (!thread.wasReady) void thread.terminate()
    })
    if (this.queue.length > starting + 1) this.startThread()
  }

  private retireSurplus(): void {
    for (const thread of surplusThreads([...this.threads], this.slots)) this.dismiss(thread)
  }

  private dismiss(thread: PoolThread): void {
    this.dismissed.add(thread)
    thread.retire()
  }

  /** Runs while tasks wait behind others, in the queue or in a thread. */
  private async watchStalls(): Promise<void> {
    if (this.watching) return
    this.watching = true
    try {
      while (this.queuedCount > 0) {
        const from = this.options.clock.monotonic()
        await this.options.clock.sleep(stallMs, this.stopped.signal)
        const lateMs = Math.max(0, this.options.clock.monotonic() - from - stallMs)
        this.lagMs = this.lagMs * 0.8 + lateMs * 0.2
        this.relieve()
      }
    } catch {
      // the pool stops
    } finally {
      this.watching = false
    }
  }

  private relieve(): void {
    const now = this.options.clock.monotonic()
    const stalled = [...this.threads].filter((thread) => thread.jobCount > 1 && thread.lastSignAt < now - stallMs)
    for (const thread of stalled) this.requeue(thread.takeBackSurplus())
    if (stalled.length > 0) this.dispatch()
    const next = this.queue[0]
    if (!next) return
    if (needsThread([...this.threads], { now, queuedAt: next.queuedAt, ...this.paceOf(next) })) this.startThread()
  }

  private paceOf({ claimed }: PoolJob): Pace {
    return { meanMs: this.durations.meanMs(claimed.type), lagMs: this.lagMs }
  }

  /** From the first thread on: a pool that never had one is not stopped either. */
  private async watchHeaps(): Promise<void> {
    if (this.watchingHeaps) return
    this.watchingHeaps = true
    const { clock } = this.options
    while (await pause(clock, heapCheckMs, this.stopped.signal)) {
      const before = clock.monotonic() - heapCheckMs
      const busy = [...this.threads].filter((thread) => thread.jobCount > 0 && thread.lastSignAt < before)
      // Not awaited: one that answers late must not delay the look at the others.
      for (const thread of busy) void thread.checkHeap()
    }
  }

  private later(ms: number, signal: AbortSignal, act: () => void): void {
    this.options.clock.sleep(ms, signal).then(act, () => undefined)
  }
}
