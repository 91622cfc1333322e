import { AppError, type Clock, type Fence, type LogLevel, type MaskText, type Progress } from '../../kernel/index.ts'
import type { LogEntry, ProgressUpdate, TaskStore } from '../task-store.ts'
import type { DatabaseState } from './database-state.ts'
import { keyOf } from './lease-book.ts'
import { Wakeup } from './wakeup.ts'

export interface AttemptNotesOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly maskText: MaskText
  /** The store refused a write of this attempt. */
  readonly onRefused: (fence: Fence) => void
}

interface Update {
  fence: Fence
  /** undefined: the attempt has told nothing since the last write. */
  progress: Progress | undefined
  checkpoint: string | undefined
  /** Those that wait for the checkpoint. */
  waiting: { resolve: () => void; reject: (error: Error) => void }[]
}

const flushEveryMs = 250
/** Handlers wait for checkpoints: these are written sooner, together with what else comes in the meantime. */
const checkpointGatherMs = 2
const logBatch = 500
/** Lines kept while the database is slow or away. */
const maxLines = 5_000

/** Progress, checkpoints and log lines of the running attempts, written in batches. Bounded: lines beyond are counted and said. */
export class AttemptNotes {
  private readonly options: AttemptNotesOptions
  private readonly wakeup: Wakeup
  private readonly updates = new Map<string, Update>()
  private lines: LogEntry[] = []
  /** Lines that have left `lines` and are not in the store yet. */
  private linesUnderWay: readonly LogEntry[] = []
  private lastWrite: Promise<void> = Promise.resolve()
  private dropped = 0
  private droppedEver = 0
  private stopping = false
  private loop: Promise<void> = Promise.resolve()

  constructor(options: AttemptNotesOptions) {
    this.options = options
    this.wakeup = new Wakeup(options.clock)
  }

  get droppedLines(): number {
    return this.droppedEver
  }

  start(): void {
    this.loop = this.run()
  }

  async stop(): Promise<void> {
    this.stopping = true
    this.wakeup.wake()
    await this.loop
    this.rejectWaiting(new AppError('CONNECTION_LOST', 'operational', 'The worker stopped.'))
  }

  progress(fence: Fence, progress: Progress): void {
    this.updateOf(fence).progress = progress
  }

  /** Resolves when the store has it; rejects when the write fails or is refused. */
  async checkpoint(fence: Fence, progress: Progress | undefined, value: string): Promise<void> {
    const update = this.updateOf(fence)
    update.progress = progress ?? update.progress
    update.checkpoint = value
    const stored = new Promise<void>((resolve, reject) => update.waiting.push({ resolve, reject }))
    this.wakeup.wake()
    await stored
  }

  /** What is sensitive in it is masked before it is stored. */
  log(fence: Fence, level: LogLevel, message: string): void {
    if (this.lines.length >= maxLines) return this.drop(1)
    if (this.dropped > 0) {
      this.lines.push({
        fence,
        level: 'warn',
        message: `${this.dropped} earlier log lines of this worker may be missing.`
      })
      this.dropped = 0
    }
    this.lines.push({ fence, level, message: this.options.maskText(message) })
  }

  /** An attempt that ends needs no update of its own any more: its last progress goes with the settlement. */
  forget(fence: Fence): void {
    const update = this.updates.get(keyOf(fence))
    if (update && update.waiting.length === 0) this.updates.delete(keyOf(fence))
  }

  /** Stores the lines of attempts that are about to end; afterwards the store would drop them. */
  async flushLinesOf(fences: readonly Fence[]): Promise<void> {
    if (this.lines.length + this.linesUnderWay.length === 0) return
    const ending = new Set(fences.map(keyOf))
    const isEnding = (line: LogEntry): boolean => ending.has(keyOf(line.fence))
    if (this.linesUnderWay.some(isEnding) || this.lines.some(isEnding)) await this.flushLines()
  }

  private updateOf(fence: Fence): Update {
    const known = this.updates.get(keyOf(fence))
    if (known) return known
    const update: Update = { fence, progress: undefined, checkpoint: undefined, waiting: [] }
    this.updates.set(keyOf(fence), update)
    return update
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const woken = await this.wakeup.wait(flushEveryMs)
      if (woken) await this.options.clock.sleep(checkpointGatherMs)
      await this.flush()
    }
  }

  private async flush(): Promise<void> {
    if (this.updates.size === 0 && this.lines.length === 0) return this.options.database.idle('notes')
    try {
      await this.flushUpdates()
      await this.flushLines()
      this.options.database.succeeded('notes')
    } catch (error) {
      this.options.database.failed('notes', error)
    }
  }

  private async flushUpdates(): Promise<void> {
    const batch = [...this.updates.values()]
    if (batch.length === 0) return
    this.updates.clear()
    const writes = batch.map(({ fence, progress, checkpoint }): ProgressUpdate => ({ fence, progress, checkpoint }))
    try {
      const refused = await this.options.store.saveProgress(writes)
      const refusedKeys = new Set(refused.map(keyOf))
      for (const update of batch) this.close(update, refusedKeys.has(keyOf(update.fence)))
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      for (const { waiting } of batch) for (const { reject } of waiting) reject(reason)
      throw error
    }
  }

  private close(update: Update, refused: boolean): void {
    if (refused) this.options.onRefused(update.fence)
    const lost = new AppError('ILLEGAL_TRANSITION', 'user', 'The task is no longer held by this worker.')
    for (const { resolve, reject } of update.waiting) {
      if (refused) reject(lost)
      else resolve()
    }
  }

  /** One write after the other: lines stay in order, and who needs them stored also waits for those under way. */
  private flushLines(): Promise<void> {
    const written = this.lastWrite.then(() => this.writeLines())
    this.lastWrite = written.catch(() => undefined)
    return written
  }

  private async writeLines(): Promise<void> {
    while (this.lines.length > 0) {
      const batch = this.lines.slice(0, logBatch)
      this.lines = this.lines.slice(logBatch)
      this.linesUnderWay = batch
      try {
        await this.options.store.appendLog(batch)
      } catch (error) {
        // They may be stored: a doubled line misleads more than a missing one.
        const again = error instanceof AppError && error.code === 'COMMIT_UNKNOWN' ? [] : batch
        const lines = [...again, ...this.lines]
        this.lines = lines.slice(0, maxLines)
        this.drop(batch.length - again.length + lines.length - this.lines.length)
        throw error
      } finally {
        this.linesUnderWay = []
      }
    }
  }

  private drop(lines: number): void {
    this.dropped += lines
    this.droppedEver += lines
  }

  private rejectWaiting(error: Error): void {
    for (const { waiting } of this.updates.values()) for (const { reject } of waiting) reject(error)
  }
}
