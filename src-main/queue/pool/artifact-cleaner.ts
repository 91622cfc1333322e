import type { Dirent } from 'node:fs'
import { opendir, readdir, rmdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, LogLevel } from '../../kernel/index.ts'
import { messageOf } from './error-text.ts'
import { PacedLoop } from './paced-loop.ts'

export interface ArtifactCleanerOptions {
  readonly artifactDir: string
  readonly artifactDays: number
  readonly clock: Clock
  readonly log: (level: LogLevel, message: string) => void
}

const dayMs = 86_400_000
const everyMs = 3_600_000
const firstWithinMs = 60_000
/** Of one round; the next one goes on. */
const mostRemoved = 1_000

/**
 * Removes artifacts whose time is over from this worker's folder, one round an hour. A row's time counts by the database's clock from
 * the end of its attempt, a file's by this machine's from when it was written: a day more keeps a file at least as long as its row says.
 */
export class ArtifactCleaner {
  private readonly options: ArtifactCleanerOptions
  private readonly loop: PacedLoop

  constructor(options: ArtifactCleanerOptions) {
    this.options = options
    const { clock } = options
    const firstPauseMs = firstWithinMs * clock.random()
    this.loop = new PacedLoop({ clock, firstPauseMs, round: (stopped) => this.round(stopped) })
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  private async round(stopped: AbortSignal): Promise<number> {
    const { clock, artifactDir, artifactDays, log } = this.options
    const before = clock.now() - (artifactDays + 1) * dayMs
    const round = new CleaningRound(before, stopped)
    await round.run(artifactDir)
    if (round.failure !== undefined) log('warn', `an expired artifact was not removed: ${messageOf(round.failure)}`)
    if (round.removed > 0) log('info', `removed ${round.removed} expired artifacts`)
    return everyMs * (0.8 + 0.4 * clock.random())
  }
}

/** Artifacts are at TASK/ATTEMPT/NAME (`artifactPath`); whatever else is in the folder is not ours. Links are not followed. */
class CleaningRound {
  removed = 0
  /** The first; the others of the round are tried all the same. */
  failure: unknown
  private readonly before: number
  private readonly stop: AbortSignal

  constructor(before: number, stop: AbortSignal) {
    this.before = before
    this.stop = stop
  }

  /** Never rejects; see `failure`. */
  async run(artifactDir: string): Promise<void> {
    await this.cleanTasks(artifactDir).catch((error: unknown) => this.note(error))
  }

  private async cleanTasks(artifactDir: string): Promise<void> {
    const tasks = await opendir(artifactDir).catch(nothingIfMissing)
    if (!tasks) return
    // One folder after the other, however many there are. Leaving the loop closes the handle.
    for await (const task of tasks) {
      if (this.isOver) return
      if (!task.isDirectory() || !isNumber(task.name)) continue
      await this.cleanTask(join(artifactDir, task.name)).catch((error: unknown) => this.note(error))
    }
  }

  private get isOver(): boolean {
    return this.stop.aborted || this.removed >= mostRemoved
  }

  private async cleanTask(folder: string): Promise<void> {
    for (const attempt of await entriesOf(folder)) {
      if (this.isOver) return
      if (attempt.isDirectory() && isNumber(attempt.name)) await this.cleanAttempt(join(folder, attempt.name))
    }
    await rmdir(folder).catch(stillUsed)
  }

  private async cleanAttempt(folder: string): Promise<void> {
    // A young folder may be one that a handler is about to write into.
    const isOld = await this.isOld(folder)
    for (const file of await entriesOf(folder)) {
      if (this.isOver) return
      const path = join(folder, file.name)
      if (!file.isFile() || !(await this.isOld(path))) continue
      await unlink(path).catch(nothingIfMissing)
      this.removed++
    }
    if (isOld) await rmdir(folder).catch(stillUsed)
  }

  private note(error: unknown): void {
    this.failure ??= error
  }

  private async isOld(path: string): Promise<boolean> {
    const facts = await stat(path).catch(nothingIfMissing)
    return facts !== undefined && facts.mtimeMs < this.before
  }
}

/** An attempt has few files, and a task few attempts with files. */
const entriesOf = async (folder: string): Promise<Dirent[]> =>
  (await readdir(folder, { withFileTypes: true }).catch(nothingIfMissing)) ?? []

const isNumber = (name: string): boolean => /^\d{1,20}$/.test(name)

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code

/** Another worker with the same folder may be faster. */
function nothingIfMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

/** ENOTEMPTY, and what other systems say instead: it goes with the last file, in a later round. */
function stillUsed(error: unknown): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EPERM', 'EBUSY'].includes(String(codeOf(error)))) throw error
}
