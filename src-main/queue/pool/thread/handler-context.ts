import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { safeFileName, taskLimits, type Clock, type LogLevel, type Progress } from '../../../kernel/index.ts'
import { artifactPath, freeFileName, keptNameBytes, sameFile } from '../artifact-files.ts'
import { truncateUtf8 } from '../../stored-text.ts'
import { FinalError, InterruptedError, type HandlerContext, type InterruptReason } from '../handler.ts'
import {
  importedRows,
  importKey,
  interruptCell,
  interruptReasonCell,
  interruptReasons,
  threadLimits,
  type HandedTask
} from '../protocol.ts'
import type { WorkerLink } from './worker-link.ts'

export interface TaskContext {
  readonly context: HandlerContext
  interrupt(reason: InterruptReason): void
  /** Counts that the worker has not been told yet are in here too; null when none were given. */
  latestProgress(): Progress | null
  interrupted(): boolean
}

interface ContextOptions {
  readonly task: HandedTask
  readonly link: WorkerLink
  readonly cells: Int32Array
  readonly artifactDir: string
  readonly clock: Clock
}

/** What one execution sees of the world outside its thread. */
export function openContext({ task, link, cells, artifactDir, clock }: ContextOptions): TaskContext {
  const { handover } = task
  const abort = new AbortController()
  const notes = openNotes(handover, link, clock)
  let artifacts = 0
  const fileNames = new Set<string>()

  const interrupt = (reason: InterruptReason): void => {
    if (!abort.signal.aborted) abort.abort(new InterruptedError(reason))
  }
  const context: HandlerContext = {
    taskId: task.taskId,
    attempt: task.attempt,
    idempotencyKey: task.idempotencyKey,
    signal: abort.signal,
    checkpoint: checkpointOf(task.checkpoint),
    checkCancellation() {
      if (Atomics.load(cells, interruptCell) === handover) {
        interrupt(interruptReasons[Atomics.load(cells, interruptReasonCell)] ?? 'cancelled')
      }
      abort.signal.throwIfAborted()
    },
    progress: notes.progress,
    log: notes.log,
    async artifact(file) {
      const bytes = typeof file.content === 'string' ? Buffer.from(file.content, 'utf8') : file.content
      if (bytes.length > taskLimits.artifactBytes) {
        throw new FinalError('ARTIFACT_TOO_LARGE', `A file may have ${taskLimits.artifactBytes} bytes at most.`)
      }
      if (++artifacts > threadLimits.artifacts) {
        throw new FinalError('TOO_MANY_ARTIFACTS', `An attempt may keep ${threadLimits.artifacts} files at most.`)
      }
      // Different names may be made to one safe name, and a handler may give one twice: neither file replaces the other.
      const name = freeFileName(safeFileName(file.name, keptNameBytes), fileNames)
      fileNames.add(sameFile(name))
      const path = artifactPath(artifactDir, task.taskId, task.attempt, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes, { mode: 0o600, signal: abort.signal })
      link.tell({
        kind: 'artifact',
        handover,
        name,
        contentType: file.contentType.slice(0, 100),
        bytes: bytes.length
      })
    },
    async saveCheckpoint(value) {
      const text = jsonText(value, taskLimits.checkpointBytes, 'CHECKPOINT')
      await link.ask({ kind: 'checkpoint', handover, value: text }, abort.signal)
    },
    rows: {
      async insert(key, rows) {
        const checked = { importKey: usable(importKey, key), rows: usable(importedRows, [...rows]) }
        return link.ask({ kind: 'insertRows', handover, ...checked }, abort.signal)
      },
      count: async (key) => link.ask({ kind: 'countRows', handover, importKey: usable(importKey, key) }, abort.signal)
    }
  }
  return { context, interrupt, latestProgress: notes.latest, interrupted: () => abort.signal.aborted }
}

/** What is no JSON was not written by us: the attempt starts from the beginning, as it would without. */
function checkpointOf(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The worker ends a thread that sends what it does not take; said here, it is an error with a reason. */
function usable<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new FinalError('ROWS_NOT_USABLE', `The rows cannot be stored: ${z.prettifyError(parsed.error)}`)
}

/** JSON text of a value that a handler hands over. Throws FinalError when it has none or is too large. */
export function jsonText(value: unknown, maxBytes: number, what: 'CHECKPOINT' | 'RESULT'): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new FinalError(`${what}_NOT_JSON`, `The ${what.toLowerCase()} cannot be written as JSON.`, { cause: error })
  }
  if (text === undefined) throw new FinalError(`${what}_NOT_JSON`, `The ${what.toLowerCase()} has no JSON form.`)
  if (Buffer.byteLength(text) > maxBytes) {
    throw new FinalError(`${what}_TOO_LARGE`, `The ${what.toLowerCase()} may have ${maxBytes} bytes at most.`)
  }
  return text
}

/** Progress and log lines, slowed down here: a handler that reports in a tight loop must not flood the worker. */
function openNotes(handover: number, link: WorkerLink, clock: Clock) {
  let latest: Progress | null = null
  let progressAt = -Infinity
  let windowAt = -Infinity
  let linesInWindow = 0
  let dropped = 0

  const line = (level: LogLevel, message: string): void => {
    const now = clock.monotonic()
    if (now - windowAt >= threadLimits.logWindowMs) {
      windowAt = now
      linesInWindow = 0
      if (dropped > 0) {
        const said = `${dropped} log lines were dropped: too many in a short time.`
        link.tell({ kind: 'log', handover, level: 'warn', message: said })
      }
      dropped = 0
    }
    if (++linesInWindow > threadLimits.logLinesPerWindow) return void dropped++
    link.tell({ kind: 'log', handover, level, message: truncateUtf8(message, taskLimits.logMessageBytes) })
  }
  return {
    latest: () => latest,
    log: (first: string, second?: string): void => {
      if (second === undefined) return line('info', String(first))
      line(isLevel(first) ? first : 'info', String(second))
    },
    progress: (counts: Partial<Progress>): void => {
      latest = {
        total: counts.total === undefined || counts.total === null ? (latest?.total ?? null) : count(counts.total),
        processed: count(counts.processed),
        succeeded: count(counts.succeeded),
        failed: count(counts.failed),
        skipped: count(counts.skipped)
      }
      const now = clock.monotonic()
      if (now - progressAt < threadLimits.progressEveryMs) return
      progressAt = now
      link.tell({ kind: 'progress', handover, progress: latest })
    }
  }
}

const isLevel = (text: string): text is LogLevel => ['debug', 'info', 'warn', 'error'].includes(text)
const count = (value: number | undefined): number =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(value)))
    : 0
