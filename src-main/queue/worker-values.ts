import { AppError, taskLimits, workerRequest, type WorkerRequest } from '../kernel/index.ts'
import { truncateUtf8 } from './stored-text.ts'
import type { WorkerReport } from './task-store.ts'

/** Workers that a reading shows, the latest signs of life first; and those of one host that are told of a new task. */
export const mostWorkers = 1_000
export const mostHinted = 64

/** Which workers are forgotten, by the age of their last sign (ms), and how many of them in one recovery at most. */
export const forgottenWorkers = { stoppedForMs: 3_600_000, silentForMs: 86_400_000, atOnce: 100 } as const

/** What every store's column holds, and no two of them are equal there: printable ASCII, 100 characters. */
export const isWorkerId = (id: string): boolean => /^[\x21-\x7e]{1,100}$/.test(id)

/** Throws INVALID_INPUT. */
export function checkWorkerId(id: string): void {
  if (!isWorkerId(id)) throw invalid('A worker id has 1 to 100 letters, digits or signs, and no spaces.')
}

/** As every store's column holds it. */
export const hostText = (host: string): string => truncateUtf8(host, 255)

/** What someone else wrote there and is no request asks for nothing. */
export function toRequest(stored: unknown): WorkerRequest | null {
  const parsed = workerRequest.safeParse(stored)
  return parsed.success ? parsed.data : null
}

/** The row that was there before a report. */
export interface KnownWorker {
  readonly incarnation: string
  readonly status: string
  /** It gave its last sign lately enough. */
  readonly isAlive: boolean
  readonly pid: number
  readonly host: string
}

/** The fault of a worker whose id a second live process reports too: neither can tell its tasks from the other's. */
export function duplicateFault(known: KnownWorker | undefined, report: WorkerReport): string | undefined {
  if (!known?.isAlive || known.incarnation === report.incarnation || known.status === 'stopped') return undefined
  return `Two processes report as ${report.id}: ${known.pid} on ${known.host} and ${report.pid} on ${report.host}. Give each an id of its own.`
}

/** A checkpoint is kept byte for byte, so a broken or too large one is refused. Throws INVALID_INPUT. */
export function checkCheckpoint(checkpoint: string | undefined): void {
  if (checkpoint === undefined) return
  const bytes = Buffer.byteLength(checkpoint, 'utf8')
  if (bytes > taskLimits.checkpointBytes)
    throw invalid(`The checkpoint has ${bytes} bytes; the limit is ${taskLimits.checkpointBytes}.`)
  if (!checkpoint.isWellFormed()) throw invalid('The checkpoint has half a character (a lone surrogate).')
}

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)

/** For QUIET while STOP is asked. */
export const stopIsAsked = (): AppError =>
  new AppError(
    'WORKER_STOPPING',
    'user',
    'This worker was asked to stop, and quiet would weaken that: nothing was changed. Take the request back first.'
  )
