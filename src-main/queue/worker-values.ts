import { AppError, taskLimits } from '../kernel/index.ts'

/** Which workers are forgotten, by the age of their last sign (ms), and how many of them in one recovery at most. */
export const forgottenWorkers = { stoppedForMs: 3_600_000, silentForMs: 86_400_000, atOnce: 100 } as const

/** What every store's column holds, and no two of them are equal there: printable ASCII, 100 characters. */
export const isWorkerId = (id: string): boolean => /^[\x21-\x7e]{1,100}$/.test(id)

/** Throws INVALID_INPUT. */
export function checkWorkerId(id: string): void {
  if (!isWorkerId(id)) throw invalid('A worker id has 1 to 100 letters, digits or signs, and no spaces.')
}

interface Process {
  readonly pid: number
  readonly host: string
}

/** The fault of a worker whose id a second live process reports too: neither can tell its tasks from the other's. */
export function twoProcesses(one: Process & { readonly id: string }, other: Process): string {
  return `Two processes report as ${one.id}: ${other.pid} on ${other.host} and ${one.pid} on ${one.host}. Give each an id of its own.`
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
