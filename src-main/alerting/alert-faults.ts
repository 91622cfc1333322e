import { alertLimits, AppError } from '../kernel/index.ts'
import { fileFaultOf, type FileFault } from '../sqlite-file/index.ts'

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** For a file that was set aside at the start. */
export function begunAnew(aside: string, cause: unknown): AppError {
  const text = `The file of alert rules was damaged and a new one was begun with the default rules. The old one is kept as ${aside}. Check rules, silences and notifiers.`
  return new AppError('ALERTS_DAMAGED', 'operational', text, { cause, details: { aside, reason: reasonOf(cause) } })
}

/** For a file that is left alone at the start: rules are kept in memory for this run. */
export function leftAlone(fault: FileFault, cause: unknown): AppError {
  if (fault === 'full')
    return diskFull(
      cause,
      'The disk is full: the default alert rules watch, and what you change in them is lost at exit.'
    )
  const reason = fault === 'locked' ? 'it is in use by another program' : reasonOf(cause)
  const text = `The file of alert rules cannot be used (${reason}): the default rules watch, and what you change in them is lost at exit.`
  return new AppError('ALERTS_UNAVAILABLE', 'operational', text, { cause, details: { reason } })
}

/** For a write or a read that failed while the app runs; undefined for an error that is not about the file. */
export function failedFile(error: unknown): AppError | undefined {
  const fault = fileFaultOf(error)
  if (!fault) return undefined
  if (fault === 'full')
    return diskFull(
      error,
      'The disk is full, so the change of alerts could not be kept. Free some space and try again.'
    )
  const reason = reasonOf(error)
  const text = `The file of alert rules cannot be used (${reason}): alerts go on, and what changes in them is not kept.`
  return new AppError('ALERTS_UNAVAILABLE', 'operational', text, { cause: error, details: { reason } })
}

const diskFull = (cause: unknown, text: string): AppError =>
  new AppError('DISK_FULL', 'operational', text, { cause, details: { reason: reasonOf(cause) } })

export function unknownId(what: 'rule' | 'incident' | 'silence' | 'notifier'): AppError {
  return new AppError('NOT_FOUND', 'user', `This ${what} is not there any more.`, { details: { what } })
}

const limits = {
  rules: alertLimits.rulesPerConnection,
  silences: alertLimits.silencesPerConnection,
  notifiers: alertLimits.notifiers
} as const

/** Throws LIMIT_REACHED when there are as many as there may be. */
export function requireRoom(what: keyof typeof limits, count: number): void {
  const limit = limits[what]
  if (count < limit) return
  const where = what === 'notifiers' ? '' : ' for one connection'
  const text = `There can be at most ${limit} ${what}${where}: remove one that is not needed any more.`
  throw new AppError('LIMIT_REACHED', 'user', text, { details: { what, limit } })
}
