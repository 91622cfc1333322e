import { AppError, type DeadLetterFilter } from '../kernel/index.ts'

/** Letters of one page, and of one step of a replay or discard of many. */
export const deadLetterLimits = { page: 500, step: 500 } as const

/** Only what is open can be replayed or discarded. Throws INVALID_INPUT. */
export function requireOpen({ resolution }: DeadLetterFilter): void {
  if (resolution !== 'OPEN')
    throw new AppError('INVALID_INPUT', 'user', 'Only open dead letters can be replayed or discarded.')
}
