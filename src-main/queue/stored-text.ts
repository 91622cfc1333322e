import { AppError, errorClass, taskLimits } from '../kernel/index.ts'
import type { AttemptError, Progress } from '../kernel/index.ts'
import type { NewArtifact } from './task-store.ts'

/*
 * What workers report is made storable here, never refused: recording a failure must not be able to fail.
 */

const maxErrorCodeBytes = 64

/**
 * At most `maxBytes` of UTF-8, cut on a character border. Lone surrogates and NULs become U+FFFD. Works on the head only, so
 * that a 20 MB text costs no more than a short one.
 */
export function truncateUtf8(text: string, maxBytes: number): string {
  // A UTF-16 unit has at least one byte of UTF-8; the one extra unit keeps a pair at the border whole.
  const head = text
    .slice(0, maxBytes + 1)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
  const bytes = Buffer.from(head, 'utf8')
  if (bytes.length <= maxBytes) return head
  let end = maxBytes
  while (end > 0 && isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

/** NULs end texts in some tools of SQLite; lone surrogates have no UTF-8 form and would come back as another key. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Who did it, as the stores keep it: longer names are cut. Throws INVALID_INPUT for nobody: an operator's change is on record with its actor. */
export function storableActor(by: string): string {
  const actor = by.slice(0, taskLimits.actorLength).toWellFormed().replaceAll('\0', '\uFFFD').trim()
  if (actor === '') throw new AppError('INVALID_INPUT', 'user', 'Say who does this: the name is empty.')
  return actor
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** An attempt's error as the stores keep it. */
export function storableError(error: AttemptError): AttemptError {
  const known = errorClass.safeParse(error.class)
  return {
    code: truncateUtf8(String(error.code), maxErrorCodeBytes) || 'UNKNOWN',
    message: truncateUtf8(String(error.message), taskLimits.errorMessageBytes),
    class: known.success ? known.data : 'retryable'
  }
}

/** Counts as whole numbers from 0. */
export function storableProgress(progress: Progress): Progress {
  return {
    total: progress.total === null ? null : wholeCount(progress.total),
    processed: wholeCount(progress.processed),
    succeeded: wholeCount(progress.succeeded),
    failed: wholeCount(progress.failed),
    skipped: wholeCount(progress.skipped)
  }
}

const wholeCount = (value: number): number =>
  Number.isFinite(value) ? Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value))) : 0

/** A result within `taskLimits.resultBytes`; a larger one is replaced by a note with its size, since half a JSON text is none. */
export function storableResult(result: string | null): string | null {
  if (result === null) return null
  const bytes = Buffer.byteLength(result, 'utf8')
  if (bytes > taskLimits.resultBytes) return JSON.stringify({ omitted: 'result over the limit', bytes })
  return result.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** What the stores keep of a file as its columns hold it; when it expires is counted from the database's time. */
export function storableArtifact(artifact: NewArtifact): Omit<NewArtifact, 'expiresInMs'> {
  return {
    name: truncateUtf8(artifact.name, 200),
    contentType: truncateUtf8(artifact.contentType, 100),
    bytes: Math.max(0, Math.round(artifact.bytes)),
    host: truncateUtf8(artifact.host, 255),
    path: truncateUtf8(artifact.path, 1_000)
  }
}
