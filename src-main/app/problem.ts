import { ORPCError } from '@orpc/server'
import type { Problem } from '../contract/index.ts'
import { AppError, toAppError } from '../kernel/index.ts'
import type { AppLog } from './app-log.ts'

/** The text of a bug on the page: what happened stays in the log, found by the reference. */
const bugText = (reference: string): string =>
  `Something went wrong inside Taskdeck. The log file has the details under ${reference}.`

/** What the page may know of an error. A bug is logged first and becomes a reference to that entry. */
export function toProblem(error: unknown, log: AppLog): Problem {
  const known = toAppError(error)
  if (known.kind !== 'bug')
    return {
      code: known.code,
      kind: known.kind,
      message: log.redact(known.message),
      details: redactDetails(known, log)
    }
  const reference = log.bug(error)
  return { code: 'BUG', kind: 'bug', message: bugText(reference), details: { reference } }
}

function redactDetails(error: AppError, log: AppLog): Problem['details'] {
  return Object.fromEntries(
    Object.entries(error.details).map(([key, value]) => [key, typeof value === 'string' ? log.redact(value) : value])
  )
}

/** The error that leaves a procedure: PROBLEM for what we throw on purpose, a generic text for everything else. */
export function toWireError(error: unknown, log: AppLog): ORPCError<string, unknown> {
  if (error instanceof ORPCError && error.code === 'BAD_REQUEST') return error as ORPCError<string, unknown>
  if (error instanceof ORPCError && error.code === 'PROBLEM') return error as ORPCError<string, unknown>
  const data = toProblem(error, log)
  if (data.kind === 'bug') return new ORPCError('INTERNAL_SERVER_ERROR', { message: data.message })
  return new ORPCError('PROBLEM', { status: 422, message: data.message, data })
}

/** True when nothing failed: the page went away, or the app stops. */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  return signal?.aborted === true || (error instanceof Error && error.name === 'AbortError')
}
