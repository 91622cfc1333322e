import type { Clock } from '../../kernel/index.ts'
import { HandlerThreadLink, type ThreadEnd, type ThreadStart } from './handler-thread-link.ts'
import type { InterruptReason } from './handler.ts'
import type { JobEnd, PoolJob } from './pool-job.ts'
import { handoverWrap, threadLimits, type FromThread } from './protocol.ts'
import type { ThreadView } from './thread-need.ts'

/** What a running handler asks the worker to do; `reply` or `refuse` answers those that wait. */
export interface ThreadRequest {
  readonly message: Extract<FromThread, { kind: 'progress' | 'log' | 'checkpoint' | 'insertRows' | 'countRows' }>
  reply(value: number): void
  refuse(code: string, message: string): void
}

export interface PoolThreadListener {
  threadReady(thread: PoolThread): void
  started(job: PoolJob): void
  jobEnded(job: PoolJob, end: JobEnd, durationMs: number | null): void
  /** It holds nothing any more and may be given work. */
  threadIdle(thread: PoolThread): void
  request(job: PoolJob, request: ThreadRequest): void
  note(level: 'info' | 'warn', message: string, job: PoolJob | undefined): void
  tainted(thread: PoolThread): void
  /** Jobs that it held and never began are given back. */
  threadEnded(thread: PoolThread, unstarted: readonly PoolJob[]): void
}

/** One handler thread and the jobs that it holds, in the order in which it runs them. */
export class PoolThread implements ThreadView {
  wasReady = false
  retired = false
  /** Monotonic ms of the last message, for stalls. */
  lastSignAt: number
  /** See `ThreadView`. */
  idleSince: number
  turnAt: number
  private readonly link: HandlerThreadLink
  private readonly clock: Clock
  private readonly listener: PoolThreadListener
  private readonly jobs = new Map<number, PoolJob>()
  private nextHandover = 1
  /** Ends the wait for a handler file. */
  private loading: AbortController | undefined

  constructor(start: ThreadStart, clock: Clock, listener: PoolThreadListener) {
    this.clock = clock
    this.listener = listener
    this.lastSignAt = clock.monotonic()
    this.idleSince = this.lastSignAt
    this.turnAt = this.lastSignAt
    this.link = new HandlerThreadLink(start, {
      message: (message) => this.receive(message),
      output: (text) => listener.note('info', text, this.first()),
      ended: (end) => this.close(end)
    })
  }

  get available(): boolean {
    return this.wasReady && !this.retired && this.jobs.size === 0
  }

  get jobCount(): number {
    return this.jobs.size
  }

  holds(job: PoolJob): boolean {
    return this.handoverOf(job) !== undefined
  }

  run(jobs: readonly PoolJob[]): void {
    const handed = jobs.map((job) => {
      const handover = this.nextHandover
      this.nextHandover = (handover % handoverWrap) + 1
      this.jobs.set(handover, job)
      return job.handed(handover)
    })
    this.lastSignAt = this.clock.monotonic()
    this.turnAt = this.lastSignAt
    this.link.run(handed)
  }

  /** True when the job had not begun; it is no longer this thread's then. */
  takeBack(job: PoolJob): boolean {
    const taken = this.withdraw(job)
    if (taken) this.afterRemoval()
    return taken
  }

  takeBackUnstarted(): PoolJob[] {
    const taken = [...this.jobs.values()].filter((job) => this.withdraw(job))
    if (taken.length > 0) this.afterRemoval()
    return taken
  }

  /** Leaves the first: it runs, or the thread is about to wake up for it. */
  takeBackSurplus(): PoolJob[] {
    return [...this.jobs.values()].slice(1).filter((job) => this.withdraw(job))
  }

  interrupt(job: PoolJob, reason: InterruptReason): void {
    const handover = this.handoverOf(job)
    if (handover !== undefined) this.link.interrupt(handover, reason)
  }

  /** Takes no further job and ends once it is idle. */
  retire(): void {
    this.retired = true
    if (this.jobs.size === 0) void this.terminate()
  }

  async terminate(): Promise<void> {
    this.retired = true
    await this.link.terminate()
  }

  checkHeap(): Promise<void> {
    return this.link.checkHeap()
  }

  private receive(message: FromThread): void {
    this.lastSignAt = this.clock.monotonic()
    if (message.kind === 'ready') {
      this.wasReady = true
      return this.listener.threadReady(this)
    }
    if (message.kind === 'tainted') return this.onTainted(message.message)
    if (message.kind === 'loading') return this.watchLoading(message.file)
    if (message.kind === 'loaded') return this.loading?.abort()
    if (!('handover' in message)) return
    const job = this.jobs.get(message.handover)
    if (!job) return
    if (message.kind === 'started') return this.listener.started(job)
    if (message.kind === 'ended') return this.onEnded(message, job)
    if (message.kind === 'artifact') return job.note(message)
    if (message.kind === 'progress') job.note(message)
    this.listener.request(job, this.requestOf(message))
  }

  private onEnded(message: Extract<FromThread, { kind: 'ended' }>, job: PoolJob): void {
    job.note(message)
    this.jobs.delete(message.handover)
    this.turnAt = this.lastSignAt
    this.listener.jobEnded(job, message.outcome, message.durationMs)
    this.afterRemoval()
  }

  /** From outside: a file may compute for ever. */
  private watchLoading(file: string): void {
    this.loading = new AbortController()
    const end = { code: 'HANDLER_LOAD_FAILED', message: `${file} does not finish loading.` } as const
    this.clock.sleep(threadLimits.loadMs, this.loading.signal).then(
      () => void this.link.terminate(end),
      () => undefined
    )
  }

  private onTainted(message: string): void {
    this.listener.note('warn', message, undefined)
    this.retire() // first: what is taken back must not be given to it again
    this.listener.tainted(this)
  }

  private requestOf(message: ThreadRequest['message']): ThreadRequest {
    const request = 'request' in message ? message.request : undefined
    return {
      message,
      reply: (value) => {
        if (request !== undefined) this.link.send({ kind: 'reply', request, value })
      },
      refuse: (code, text) => {
        if (request !== undefined) this.link.send({ kind: 'refusal', request, code, message: text })
      }
    }
  }

  private close(end: ThreadEnd): void {
    this.loading?.abort()
    this.retired = true
    const unstarted = [...this.jobs.values()].filter((job) => this.withdraw(job))
    const begun = [...this.jobs.values()]
    this.jobs.clear()
    for (const job of begun) this.listener.jobEnded(job, { status: 'thread-ended', end }, null)
    this.listener.threadEnded(this, unstarted)
  }

  private withdraw(job: PoolJob): boolean {
    const handover = this.handoverOf(job)
    return handover !== undefined && this.link.takeBack(handover) && this.jobs.delete(handover)
  }

  private afterRemoval(): void {
    if (this.jobs.size > 0) return
    this.idleSince = this.clock.monotonic()
    if (this.retired) void this.terminate()
    else if (this.wasReady) this.listener.threadIdle(this)
  }

  /** Jobs are few (threadLimits.batch). */
  private handoverOf(job: PoolJob): number | undefined {
    for (const [handover, held] of this.jobs) if (held === job) return handover
    return undefined
  }

  private first(): PoolJob | undefined {
    return this.jobs.values().next().value
  }
}
