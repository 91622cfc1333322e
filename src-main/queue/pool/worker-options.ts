import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import {
  maskText,
  type AppError,
  type Clock,
  type LogLevel,
  type MaskText,
  type Percentiles
} from '../../kernel/index.ts'
import type { RowSink } from '../row-sink.ts'
import type { TaskStore } from '../task-store.ts'
import { messageOf } from './error-text.ts'
import { guardedListener } from './guarded-listener.ts'
import type { HandlerCatalogReading, HandlerSource } from './handler-catalog.ts'
import type { WorkerHooks } from './worker-hooks.ts'

export interface WorkerLogLine {
  /** Milliseconds since the epoch, UTC, by the local clock. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly taskId: string | null
}

export interface WorkerOptions {
  readonly store: TaskStore
  /** A store on a connection of its own, so that nothing delays heartbeats; default: `store`. */
  readonly heartbeatStore?: TaskStore
  readonly clock: Clock
  /** Unique among all processes; see `newWorkerId`. */
  readonly workerId: string
  /** Of the program, for the workers' page. */
  readonly version: string
  /** Tasks at once: leases never exceed it. */
  readonly slots: number
  readonly handlers: HandlerSource
  /** Where artifacts are written; absolute. */
  readonly artifactDir: string
  /** Days that artifacts are kept for; a day later the worker removes their files. Default 7. */
  readonly artifactDays?: number
  /** For handlers that use `rows`; null refuses them. */
  readonly rowSink?: RowSink | null
  /** Default 30,000. */
  readonly leaseMs?: number
  /** Longest pause between polls of an idle queue. Default 500. */
  readonly pollMs?: number
  /** Pause between recovery rounds, give or take 20 %. Default 60,000. */
  readonly recoverMs?: number
  /** `stop` takes about this long at most: handlers are stopped a little before. Default 20,000. */
  readonly graceMs?: number
  /** After a timeout a handler may take this long to stop by itself. Default 1,000. */
  readonly timeoutGraceMs?: number
  /** After a cancel the same. Default 10,000. */
  readonly cancelGraceMs?: number
  /** Heap of one handler thread, MB. Default 512. */
  readonly threadMemoryMb?: number
  /** Listen for hints of new work from processes on this host (a UDP port of the loopback address). Default true. */
  readonly hints?: boolean
  readonly hooks?: WorkerHooks
  /** Hides what is sensitive in log lines and error messages before they are stored or told. Default: by the built-in names. */
  readonly maskText?: MaskText
  /** What it throws reaches nobody. */
  readonly onLog?: (line: WorkerLogLine) => void
  /** The status changed in something other than counts. What it throws is logged. */
  readonly onChange?: (status: WorkerStatus) => void
}

const workerDefaults = {
  artifactDays: 7,
  rowSink: null,
  leaseMs: 30_000,
  pollMs: 500,
  recoverMs: 60_000,
  graceMs: 20_000,
  timeoutGraceMs: 1_000,
  cancelGraceMs: 10_000,
  threadMemoryMb: 512,
  hints: true,
  hooks: {},
  maskText,
  onLog: () => undefined,
  onChange: () => undefined
} as const satisfies Partial<WorkerOptions>

/** An option that is given as undefined has its default, like one that is left out. */
export function withDefaults(given: WorkerOptions): Required<WorkerOptions> {
  const onLog = guardedListener(given.onLog ?? workerDefaults.onLog)
  const onChangeFailed = (error: unknown): void =>
    onLog({ at: given.clock.now(), level: 'error', message: `onChange: ${messageOf(error)}`, taskId: null })
  return {
    ...given,
    heartbeatStore: given.heartbeatStore ?? given.store,
    artifactDays: given.artifactDays ?? workerDefaults.artifactDays,
    rowSink: given.rowSink ?? workerDefaults.rowSink,
    leaseMs: given.leaseMs ?? workerDefaults.leaseMs,
    pollMs: given.pollMs ?? workerDefaults.pollMs,
    recoverMs: given.recoverMs ?? workerDefaults.recoverMs,
    graceMs: given.graceMs ?? workerDefaults.graceMs,
    timeoutGraceMs: given.timeoutGraceMs ?? workerDefaults.timeoutGraceMs,
    cancelGraceMs: given.cancelGraceMs ?? workerDefaults.cancelGraceMs,
    threadMemoryMb: given.threadMemoryMb ?? workerDefaults.threadMemoryMb,
    hints: given.hints ?? workerDefaults.hints,
    hooks: given.hooks ?? workerDefaults.hooks,
    maskText: given.maskText ?? workerDefaults.maskText,
    onLog,
    onChange: guardedListener(given.onChange ?? workerDefaults.onChange, onChangeFailed)
  }
}

export interface WorkerStatus {
  /** `quiet`: another process asked that it claims nothing more; what runs goes on. */
  readonly status: 'stopped' | 'starting' | 'running' | 'quiet' | 'stopping'
  readonly workerId: string
  readonly slots: number
  /** Leases whose handler has not ended. */
  readonly running: number
  /** Leases in all, those being settled included. */
  readonly leases: number
  readonly threads: number
  readonly queued: number
  /** `ok`, or the code of what fails now. */
  readonly database: string
  readonly problem: AppError | null
  readonly claimLatency: Percentiles | null
  readonly droppedLogLines: number
  readonly handlers: HandlerCatalogReading
}

export interface Worker {
  /** Resolves when it polls. Idempotent. A database that is away does not fail it: see `status().database`. */
  start(): Promise<void>
  /** Idempotent; see `graceMs`. */
  stop(): Promise<void>
  /** Resolves once it has stopped, by `stop` or because another process asked for it. Never rejects. */
  readonly finished: Promise<void>
  resize(slots: number): void
  /** Polls now: work was just submitted. */
  nudge(): void
  status(): WorkerStatus
}

/** host-pid-random, at most 100 ASCII characters. */
export function newWorkerId(): string {
  const host = hostname()
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 60)
  return `${host}-${process.pid}-${randomBytes(4).toString('hex')}`
}
