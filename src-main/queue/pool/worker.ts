import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { LogLevel, WorkerRequest } from '../../kernel/index.ts'
import type { WorkerReport } from '../task-store.ts'
import { AttemptFlow } from './attempt-flow.ts'
import { AttemptNotes } from './attempt-notes.ts'
import { ClaimLoop } from './claim-loop.ts'
import { DatabaseState } from './database-state.ts'
import { HandlerCatalog, type HandlerCatalogReading } from './handler-catalog.ts'
import { HandlerRequests } from './handler-requests.ts'
import type { ThreadStart } from './handler-thread-link.ts'
import { HintListener } from './hint-listener.ts'
import { Housekeeping } from './housekeeping.ts'
import { LeaseBook } from './lease-book.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { ReportLoop } from './report-loop.ts'
import { SettlementWriter } from './settlement-writer.ts'
import { ThreadPool } from './thread-pool.ts'
import { threadStart } from './thread-start.ts'
import { Wakeup } from './wakeup.ts'
import { HookRunner } from './worker-hooks.ts'
import { withDefaults, type Worker, type WorkerOptions, type WorkerStatus } from './worker-options.ts'
import { workerReport } from './worker-report.ts'

/** Of the grace, kept for handing back and the last report. */
const longestTailMs = 2_000
/** Between two reports: what another process asks for comes with the next. */
const longestReportMs = 5_000
/** Threads end at once, but for one inside a native call that does not return: the end of the process takes that one. */
const threadsEndMs = 2_000

/** A pool that claims due tasks of one store, runs them in handler threads and settles them. Runs once: after `stop` make another. */
export function createWorker(options: WorkerOptions): Worker {
  return new PoolWorker(options)
}

class PoolWorker implements Worker {
  private readonly options: Required<WorkerOptions>
  private readonly incarnation = randomUUID()
  private readonly book: LeaseBook
  private readonly database: DatabaseState
  private readonly leaseClosed: Wakeup
  private readonly catalog: HandlerCatalog
  private readonly pool: ThreadPool
  private readonly notes: AttemptNotes
  private readonly writer: SettlementWriter
  private readonly flow: AttemptFlow
  private readonly keeper: LeaseKeeper
  private readonly reports: ReportLoop
  private readonly claims: ClaimLoop
  private readonly housekeeping: Housekeeping
  private readonly hints: HintListener
  private readonly hooks: HookRunner
  private readonly cacheDir: string
  private types: readonly string[] = []
  private state: WorkerStatus['status'] = 'stopped'
  private slots: number
  private starting: Promise<void> | undefined
  private stopping: Promise<void> | undefined
  private stopRequested = false
  /** `onStart` was called, so `onStop` follows. */
  private hasBegun = false
  /** Also when another process asked it to stop. */
  readonly finished: Promise<void>
  private tellFinished: () => void = () => undefined

  constructor(given: WorkerOptions) {
    this.options = withDefaults(given)
    this.finished = new Promise((resolve) => (this.tellFinished = resolve))
    const { store, clock, handlers, hooks, maskText } = this.options
    this.slots = this.options.slots
    this.leaseClosed = new Wakeup(clock)
    this.hooks = new HookRunner({ hooks, clock, log: (message) => this.log('error', message) })
    this.book = new LeaseBook(clock)
    this.database = new DatabaseState((problem) => this.onDatabase(problem))
    this.cacheDir = join(this.options.artifactDir, '.handler-cache')
    this.catalog = new HandlerCatalog({
      source: handlers,
      cacheDir: this.cacheDir,
      clock,
      onChange: (reading) => this.onHandlers(reading)
    })
    const { database } = this
    this.notes = new AttemptNotes({ store, clock, database, maskText, onRefused: (fence) => this.flow.refused(fence) })
    this.pool = this.openPool()
    this.writer = this.openWriter()
    this.flow = new AttemptFlow({
      options: this.options,
      book: this.book,
      pool: this.pool,
      writer: this.writer,
      notes: this.notes,
      hooks: this.hooks,
      log: (level, message, taskId) => this.log(level, message, taskId)
    })
    this.keeper = this.openKeeper()
    this.reports = this.openReports()
    this.claims = this.openClaims()
    this.housekeeping = new Housekeeping({
      options: this.options,
      database,
      log: (level, message, taskId) => this.log(level, message, taskId),
      onWork: () => this.claims.nudge()
    })
    this.hints = new HintListener({
      onHint: () => this.claims.hint(),
      onProblem: (message) => this.log('warn', message)
    })
  }

  start(): Promise<void> {
    this.starting ??= this.open()
    return this.starting
  }

  stop(): Promise<void> {
    this.stopping ??= this.close().finally(() => this.tellFinished())
    return this.stopping
  }

  resize(slots: number): void {
    this.slots = slots
    this.pool.resize(slots)
    this.claims.nudge()
    this.log('info', `slots: ${slots}`)
    this.changed()
  }

  nudge(): void {
    this.claims.nudge()
  }

  status(): WorkerStatus {
    return {
      status: this.state,
      workerId: this.options.workerId,
      slots: this.slots,
      running: this.book.running,
      leases: this.book.size,
      threads: this.pool.threadCount,
      queued: this.pool.queuedCount,
      database: this.database.code,
      problem: this.database.problem,
      claimLatency: this.claims.latency.percentiles(),
      droppedLogLines: this.notes.droppedLines,
      handlers: this.catalog.reading
    }
  }

  private async open(): Promise<void> {
    if (this.stopping) return
    this.enter('starting')
    await this.catalog.start()
    if (this.options.hints) await this.hints.start()
    if (this.stopping) return
    this.hasBegun = true
    await this.hooks.call('onStart', { workerId: this.options.workerId })
    if (this.stopping) return
    this.notes.start()
    this.writer.start()
    this.keeper.start()
    this.reports.start()
    this.housekeeping.start()
    this.claims.start()
    this.enter('running')
    this.log('info', `worker ${this.options.workerId} started with ${this.slots} slots`)
  }

  /**
   * Claims nothing more at once; running handlers have until shortly before the end of the grace. Nothing in here waits longer
   * than the grace allows: a database that does not answer cannot keep the process alive.
   */
  private async close(): Promise<void> {
    if (!this.starting) return
    const { clock, graceMs } = this.options
    const tailMs = Math.min(longestTailMs, graceMs / 2)
    const handlersUntil = clock.monotonic() + graceMs - tailMs
    this.enter('stopping')
    const claimsStopped = this.claims.stop()
    this.flow.stopAccepting()
    this.hints.stop()
    const loops = [claimsStopped, this.housekeeping.stop(), this.catalog.stop()]
    const quiet = Promise.all([this.starting, ...loops])
    await this.within(handlersUntil - clock.monotonic(), quiet)
    await this.untilNoLease(handlersUntil)
    this.flow.interruptAll(tailMs / 4)
    await this.untilNoLease(clock.monotonic() + tailMs / 2)
    const writers = [this.notes.stop(), this.writer.stop(tailMs / 4), this.keeper.stop(), this.reports.stop()]
    await this.within(tailMs / 4, Promise.all(writers))
    await this.within(threadsEndMs, this.pool.stop())
    this.state = 'stopped'
    await this.within(tailMs / 4, this.reports.reportNow())
    const { hasBegun: begun, stopRequested: requested } = this
    if (begun) await this.hooks.call('onStop', { workerId: this.options.workerId, requested }, longestTailMs)
    this.log('info', `worker stopped${this.book.size > 0 ? `; ${this.book.size} leases are left to expire` : ''}`)
    this.changed()
  }

  private async within(ms: number, work: Promise<unknown>): Promise<void> {
    const timer = new AbortController()
    const late = this.options.clock.sleep(ms, timer.signal).catch(() => undefined)
    await Promise.race([work, late])
    timer.abort()
  }

  private async untilNoLease(until: number): Promise<void> {
    for (;;) {
      const left = until - this.options.clock.monotonic()
      if (this.book.size === 0 || left <= 0) return
      await this.leaseClosed.wait(left)
    }
  }

  private openPool(): ThreadPool {
    const { clock, timeoutGraceMs, rowSink } = this.options
    const requests = new HandlerRequests({ clock, book: this.book, notes: this.notes, rowSink })
    return new ThreadPool({
      clock,
      slots: this.slots,
      start: this.threadStart(),
      timeoutGraceMs,
      watchAll: this.hooks.has('onAttemptStart'),
      listener: {
        started: (job) => this.flow.started(job),
        ended: (job, end) => {
          this.flow.ended(job, end)
          // Else the store is being told, and its answer closes the lease.
          if (!this.book.find(job.claimed.fence)) this.afterLease(job.claimed.type)
        },
        request: (job, request) => requests.take(job, request),
        note: (level, message, taskId) => this.log(level, message, taskId)
      }
    })
  }

  private openWriter(): SettlementWriter {
    const { database, book, notes } = this
    return new SettlementWriter({
      store: this.options.store,
      clock: this.options.clock,
      database,
      book,
      maskText: this.options.maskText,
      beforeSettle: (settlements) =>
        // Never a reason not to settle.
        notes.flushLinesOf(settlements.map((settlement) => settlement.fence)).catch((error: unknown) => {
          database.failed('notes', error)
        }),
      onRefused: (lease, problem) => this.flow.outcomeRefused(lease, problem),
      onClosed: (lease, end) => {
        this.flow.closed(lease, end)
        this.afterLease(lease.claimed.type)
      }
    })
  }

  private openKeeper(): LeaseKeeper {
    const { heartbeatStore, clock, leaseMs } = this.options
    return new LeaseKeeper({
      store: heartbeatStore,
      clock,
      database: this.database,
      book: this.book,
      leaseMs,
      onLost: (lease) => this.flow.lost(lease),
      onCancelRequested: (lease) => this.flow.cancelRequested(lease)
    })
  }

  private openReports(): ReportLoop {
    const { store, clock, leaseMs } = this.options
    return new ReportLoop({
      ...{ store, clock, database: this.database },
      everyMs: Math.min(leaseMs / 3, longestReportMs),
      report: () => this.report(),
      onRequest: (request) => this.onRequest(request)
    })
  }

  private openClaims(): ClaimLoop {
    const { store, clock, workerId, leaseMs, pollMs } = this.options
    return new ClaimLoop({
      store,
      clock,
      database: this.database,
      workerId,
      leaseMs,
      pollMs,
      types: () => this.types,
      capacity: () => ({ slots: this.pool.room, free: this.pool.room - this.book.size }),
      onClaimed: (tasks, sentAt) => {
        this.flow.claimed(tasks, sentAt)
        this.keeper.leased()
      }
    })
  }

  private afterLease(type: string): void {
    this.leaseClosed.wake()
    this.claims.slotFreed(type)
  }

  private onDatabase(problem: WorkerStatus['problem']): void {
    if (problem) this.log('warn', `database: ${problem.code}: ${problem.message}`)
    else this.log('info', 'database: back')
    this.changed()
  }

  private onHandlers(reading: HandlerCatalogReading): void {
    this.types = reading.handlers.map((handler) => handler.type)
    for (const { file, error } of reading.problems) this.log('error', `handler file ${file}: ${error.message}`)
    this.pool.reconfigure(this.threadStart())
    this.claims.nudge()
    this.changed()
  }

  private threadStart(): ThreadStart {
    return threadStart({ options: this.options, reading: this.catalog.reading, cacheDir: this.cacheDir })
  }

  private report(): WorkerReport {
    this.pool.trim()
    const { options, incarnation, claims, hints } = this
    const threadsStart = !this.pool.startsFail
    return workerReport({ options, incarnation, claims, status: this.status(), hintPort: hints.port, threadsStart })
  }

  /** What another process asks for, with each report. A worker that stops does not turn back. */
  private onRequest(request: WorkerRequest | null): void {
    if (this.stopping) return
    if (request === 'STOP') {
      this.log('info', 'asked to stop by another process')
      this.stopRequested = true
      void this.stop()
      return
    }
    const quiet = request === 'QUIET'
    if (quiet === (this.state === 'quiet') || (this.state !== 'running' && this.state !== 'quiet')) return
    this.log('info', quiet ? 'asked to claim nothing more' : 'claims again')
    this.claims.setQuiet(quiet)
    this.enter(quiet ? 'quiet' : 'running')
    void this.reports.reportNow()
  }

  private enter(state: WorkerStatus['status']): void {
    this.state = state
    this.changed()
  }

  private changed(): void {
    this.options.onChange(this.status())
  }

  private log(level: LogLevel, message: string, taskId: string | null = null): void {
    const { clock, maskText, onLog } = this.options
    onLog({ at: clock.now(), level, message: maskText(message), taskId })
  }
}
