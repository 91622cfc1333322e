import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import {
  localConnectionId,
  type AppEvent,
  type LocalWorkerView,
  type Problem,
  type SampleKind,
  type WorkerLogLine
} from '../../contract/index.ts'
import type { MysqlLogin } from '../../connections/index.ts'
import { AppError, type Clock, type MaskText, type NewTask } from '../../kernel/index.ts'
import { createWorker, newWorkerId, type Worker } from '../../queue/pool/index.ts'
import type { AppLog } from '../app-log.ts'
import { artifactsOfServerQueue } from '../default-data-directory.ts'
import type { DatabasePlaces } from '../links/open-queue.ts'
import { toProblem } from '../problem.ts'
import { LogBatch } from './log-batch.ts'
import { SampleWorkload } from './sample-workload.ts'
import { openWorkerQueue, type WorkerQueue } from './worker-queue.ts'

export interface LocalWorkerOptions {
  readonly clock: Clock
  readonly places: DatabasePlaces
  readonly localFile: string
  readonly artifactDir: string
  readonly version: string
  readonly log: AppLog
  readonly maskText: MaskText
  /** How long stopping may take before running tasks are handed back. */
  readonly graceMs: number
  publish(event: AppEvent): void
  /** Throws when this connection cannot be worked on; null is the embedded queue. */
  login(connectionId: string): Promise<MysqlLogin | null>
  /** Tasks that wait in this queue, as far as known. */
  waiting(connectionId: string): number
}

export interface WorkerStart {
  readonly connectionId: string
  readonly slots: number
  readonly handlersDir: string | null
}

interface Running extends WorkerStart {
  readonly worker: Worker
  readonly queue: WorkerQueue
  sample: SampleWorkload | null
}

/** How often the page hears of log lines and of changed counts. */
const pulseMs = 500
const defaultSlots = 4

/** The worker pool inside this app: at most one, on one connection at a time. */
export class LocalWorker {
  private readonly options: LocalWorkerOptions
  private readonly lines: LogBatch
  private running: Running | undefined
  private phase: 'stopped' | 'starting' | 'stopping' | null = 'stopped'
  /** What the page shows while nothing runs. */
  private last: WorkerStart = { connectionId: localConnectionId, slots: defaultSlots, handlersDir: null }
  private problem: Problem | null = null
  private readonly told = new WeakMap<AppError, Problem>()
  private shown = ''
  private pulse: AbortController | undefined
  private tail: Promise<unknown> = Promise.resolve()

  constructor(options: LocalWorkerOptions) {
    this.options = options
    this.lines = new LogBatch((text) => options.log.redact(text))
  }

  view(): LocalWorkerView {
    const { running } = this
    const { connectionId, handlersDir } = running ?? this.last
    const status = running?.worker.status()
    const reading = status?.handlers ?? { handlers: [], problems: [] }
    const failing = status?.problem ? this.problemOf(status.problem) : null
    return {
      status: this.phase ?? status?.status ?? 'stopped',
      connectionId,
      handlersDir,
      workerId: status?.workerId ?? null,
      slots: status?.slots ?? this.last.slots,
      running: status?.running ?? 0,
      handlers: reading.handlers.map((handler) => ({ ...handler })),
      problems: reading.problems.map(({ file, error }) => ({ file, problem: this.problemOf(error) })),
      sample: running?.sample?.kind ?? null,
      problem: failing ?? this.problem
    }
  }

  /** JSON Schema of a type's payload, when the worker runs on this connection and its handler names one. */
  payloadSchema(connectionId: string, type: string): Readonly<Record<string, unknown>> | null {
    if (this.running?.connectionId !== connectionId) return null
    const { handlers } = this.running.worker.status().handlers
    return handlers.find((handler) => handler.type === type)?.payloadSchema ?? null
  }

  log(): WorkerLogLine[] {
    return this.lines.newest()
  }

  start(start: WorkerStart): Promise<LocalWorkerView> {
    return this.change(async () => {
      if (this.running) throw new AppError('WORKER_RUNNING', 'user', 'The local worker runs already: stop it first.')
      this.last = start
      this.problem = null
      this.enter('starting')
      try {
        await this.open(start)
      } catch (error) {
        this.problem = toProblem(error, this.options.log)
        this.enter('stopped')
        throw error
      }
      this.enter(null)
      return this.view()
    })
  }

  stop(): Promise<LocalWorkerView> {
    return this.change(async () => {
      await this.close()
      return this.view()
    })
  }

  /** Its connection is about to be closed or opened otherwise. One that is just starting is stopped once it has started. */
  leave(connectionId: string): Promise<void> {
    return this.change(async () => {
      if (this.running?.connectionId !== connectionId) return
      await this.close()
      const text = 'The local worker was stopped because its connection was changed.'
      this.problem = toProblem(new AppError('CONNECTION_LOST', 'user', text), this.options.log)
      this.show()
    })
  }

  resize(slots: number): LocalWorkerView {
    this.requireRunning().worker.resize(slots)
    this.last = { ...this.last, slots }
    this.show()
    return this.view()
  }

  startSample(connectionId: string, kind: SampleKind): Promise<LocalWorkerView> {
    return this.change(async () => {
      const running = this.requireRunning()
      if (running.connectionId !== connectionId)
        throw new AppError('WORKER_RUNNING', 'user', 'The local worker works on another queue: stop it first.')
      await running.sample?.stop()
      running.sample = this.sampleOf(running, kind)
      this.show()
      return this.view()
    })
  }

  stopSample(): Promise<LocalWorkerView> {
    return this.change(async () => {
      await this.running?.sample?.stop()
      if (this.running) this.running.sample = null
      this.show()
      return this.view()
    })
  }

  /** Work was just submitted there. */
  nudge(connectionId: string): void {
    if (this.running?.connectionId === connectionId) this.running.worker.nudge()
  }

  private async open(start: WorkerStart): Promise<void> {
    const { clock, places, localFile, artifactDir, version, graceMs, maskText } = this.options
    await requireFolder(start.handlersDir)
    const login = await this.options.login(start.connectionId)
    const queue = await openWorkerQueue(login, localFile, places)
    const worker = createWorker({
      store: queue.store,
      heartbeatStore: queue.heartbeatStore,
      rowSink: queue.rowSink,
      clock,
      workerId: newWorkerId(),
      version,
      slots: start.slots,
      handlers: { builtIn: true, dir: start.handlersDir },
      artifactDir: login ? artifactsOfServerQueue(artifactDir, login) : artifactDir,
      graceMs,
      maskText,
      onLog: (line) => this.lines.add(line),
      onChange: () => this.show()
    })
    try {
      await worker.start()
    } catch (error) {
      await worker.stop().catch(() => undefined)
      await queue.close()
      throw error
    }
    this.running = { ...start, worker, queue, sample: null }
    void worker.finished.then(() => this.endedItself(worker))
    this.pulse = new AbortController()
    void this.beat(this.pulse.signal)
  }

  private async close(): Promise<void> {
    const { running } = this
    if (!running) return
    this.enter('stopping')
    try {
      await running.sample?.stop()
      await running.worker.stop()
    } finally {
      this.running = undefined
      await running.queue.close().catch((error: unknown) => this.options.log.bug(error))
      this.pulse?.abort()
      this.sendLines()
      this.enter('stopped')
    }
  }

  /** Another process asked the worker to stop. */
  private endedItself(worker: Worker): void {
    if (this.running?.worker === worker) this.stop().catch((error: unknown) => this.options.log.bug(error))
  }

  private sampleOf({ worker, queue, connectionId }: Running, kind: SampleKind): SampleWorkload {
    let failure = ''
    return new SampleWorkload({
      kind,
      clock: this.options.clock,
      waiting: () => this.options.waiting(connectionId),
      submit: async (tasks: readonly NewTask[]) => {
        await queue.store.submit(tasks)
        failure = ''
        worker.nudge()
      },
      onFailure: (error) => {
        const { code, message } = toProblem(error, this.options.log)
        // Once for each reason: a database that is away fails every second.
        if (code !== failure) this.note('warn', `sample workload: ${message}`)
        failure = code
      }
    })
  }

  /** Each error once: a bug is logged with every call, under a new reference, and the view is made twice a second. */
  private problemOf(error: AppError): Problem {
    const problem = this.told.get(error) ?? toProblem(error, this.options.log)
    this.told.set(error, problem)
    return problem
  }

  private note(level: WorkerLogLine['level'], message: string): void {
    this.lines.add({ at: this.options.clock.now(), level, message, taskId: null })
  }

  private async beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.options.clock.sleep(pulseMs, signal).catch(() => undefined)
      this.sendLines()
      this.show()
    }
  }

  private sendLines(): void {
    const lines = this.lines.takeUnsent()
    if (lines.length > 0) this.options.publish({ kind: 'workerLog', lines })
  }

  private enter(phase: LocalWorker['phase']): void {
    this.phase = phase
    this.show()
  }

  /** Tells the page when something that it shows has changed. */
  private show(): void {
    const localWorker = this.view()
    const text = JSON.stringify(localWorker)
    if (text === this.shown) return
    this.shown = text
    this.options.publish({ kind: 'localWorker', localWorker })
  }

  private requireRunning(): Running {
    if (!this.running) throw new AppError('INVALID_INPUT', 'user', 'Start the local worker first.')
    return this.running
  }

  private change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(work)
    this.tail = done.catch(() => undefined)
    return done
  }
}

async function requireFolder(path: string | null): Promise<void> {
  if (path === null) return
  const found = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined
  if (found?.isDirectory()) return
  throw new AppError(
    'FILE_UNAVAILABLE',
    'user',
    `${path} is not a folder: give the full path of the folder with your handlers.`,
    {
      details: { path }
    }
  )
}
