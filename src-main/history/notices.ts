import { AppError } from '../kernel/index.ts'
import type { FileFault } from '../sqlite-file/index.ts'

/** For a file that was set aside at the start. */
export function rebuilt(aside: string, cause: unknown): AppError {
  return new AppError(
    'HISTORY_DAMAGED',
    'operational',
    `The history file could not be used and was begun anew. The old one is kept as ${aside}. Queues and settings are not affected.`,
    { cause, details: { aside, reason: cause instanceof Error ? cause.message : String(cause) } }
  )
}

/** For a file that cannot be used (any more); history goes on in memory. */
export function unusable(fault: FileFault, cause: unknown): AppError {
  const details = { reason: cause instanceof Error ? cause.message : String(cause) }
  if (fault === 'full') {
    const text =
      'The disk is full: charts go on in memory and are lost at exit. Free some space and start Taskdeck again.'
    return new AppError('DISK_FULL', 'operational', text, { cause, details })
  }
  if (fault === 'damaged') {
    const text = 'The history file is damaged: charts go on in memory. It will be begun anew at the next start.'
    return new AppError('HISTORY_DAMAGED', 'operational', text, { cause, details })
  }
  const why = fault === 'locked' ? 'is in use by another Taskdeck' : reasonOf(fault, details.reason)
  const text = `The history file ${why}: charts go on in memory and are lost at exit.`
  return new AppError('HISTORY_UNAVAILABLE', 'operational', text, { cause, details })
}

const reasonOf = (fault: FileFault, reason: string): string =>
  fault === 'irregular' ? `cannot be used (${reason}; move it away)` : 'cannot be written'
