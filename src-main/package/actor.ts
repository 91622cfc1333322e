import { hostname } from 'node:os'
import { z } from 'zod'
import { userName } from '../app/user-name.ts'
import { AppError, taskLimits } from '../kernel/index.ts'

/** Of an operator's action. */
export interface ActOptions {
  /** Who does it, at most 128 characters. Default: the operating system's user at this host, `ada@mail-1`. */
  readonly by?: string
}

const name = z.string().trim().min(1).max(taskLimits.actorLength)

/** Throws INVALID_INPUT. */
export function actorOf({ by }: ActOptions): string {
  if (by === undefined) return userAtHost()
  const parsed = name.safeParse(by)
  if (parsed.success) return parsed.data
  const message = `"by" is a name of 1 to ${taskLimits.actorLength} characters.`
  throw new AppError('INVALID_INPUT', 'user', message)
}

function userAtHost(): string {
  return `${userName()}@${hostname()}`.slice(0, taskLimits.actorLength)
}
