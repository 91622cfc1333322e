import { ORPCError } from '@orpc/client'
import type { Problem } from '@contract'

/** The app (its process, its server) cannot be reached at all; calls fail with it until the link is back. */
export class AppGoneError extends Error {
  override readonly name = 'AppGoneError'
  constructor() {
    super('Taskdeck itself is not answering.')
  }
}

/** What any failed call means to the reader. Codes beyond the contract's: `APP_GONE`, `BAD_REQUEST`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ORPCError) {
    if (error.code === 'PROBLEM') return error.data as Problem
    if (error.code === 'BAD_REQUEST') return made('BAD_REQUEST', 'user', error.message)
    return made('BUG', 'bug', error.message)
  }
  if (error instanceof AppGoneError || isClosedLink(error))
    return made('APP_GONE', 'operational', new AppGoneError().message)
  return made('BUG', 'bug', error instanceof Error ? error.message : String(error))
}

/** oRPC rejects what was in flight on a closed link with an AbortError. */
function isClosedLink(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.message.includes('not open'))
}

function made(code: string, kind: Problem['kind'], message: string): Problem {
  return { code, kind, message, details: {} }
}
