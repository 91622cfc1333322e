import { z } from 'zod'
import { AppError, deadLetterFilter, type DeadLetterFilter } from '../kernel/index.ts'
import { deadLetterLimits } from '../queue/dead-letters.ts'
import type { ActionResult, DeadLetterPage, DeadLetterStep, DeadLetterStore } from '../queue/task-store.ts'
import { actorOf, type ActOptions } from './actor.ts'
import { requireKnown, requireOneOf } from './known-options.ts'

/** All conditions must hold; what is left out means any, but for `resolution`, which is OPEN then. */
export type DeadLetterQuery = z.input<typeof deadLetterFilter>

/** What a replay or discard of many did. `skipped` went on, or were replayed or discarded, by someone else meanwhile. */
export interface ResolvedDeadLetters {
  readonly changed: number
  readonly skipped: number
}

/** Of a replay or discard of many. */
export interface ResolveManyOptions extends ActOptions {
  /** Aborting ends it between two steps. */
  readonly signal?: AbortSignal
}

/** Tasks that ended FAILED, kept until somebody replays or discards them, and then as a record of who did and when. Every method throws INVALID_INPUT for a filter or an option that is none. */
export interface QueueDeadLetters {
  /** Newest first, at most 500 a page; `cursor` is the `nextCursor` of the page before. */
  list(
    query?: DeadLetterQuery,
    page?: { readonly limit?: number; readonly cursor?: string | null }
  ): Promise<DeadLetterPage>
  /** At most 10,001: more than 10,000 are not counted to their end. */
  count(query?: DeadLetterQuery): Promise<number>
  /**
   * All open ones that are there now go back to QUEUED with all attempts again, in steps of 500: what dies meanwhile is left alone, and workers may take
   * the first before the last is back.
   */
  replay(query?: DeadLetterQuery, options?: ResolveManyOptions): Promise<ResolvedDeadLetters>
  /** Their tasks stay FAILED; the letters are open no more. */
  discard(query?: DeadLetterQuery, options?: ResolveManyOptions): Promise<ResolvedDeadLetters>
  /** One by its own id. What is not open any more is `refused` and no error. */
  resolve(id: string, action: 'replay' | 'discard', options?: ActOptions): Promise<ActionResult>
}

const mostCounted = 10_000
const actions = ['replay', 'discard'] as const

export function deadLettersOf(store: () => DeadLetterStore): QueueDeadLetters {
  const all = async (
    action: 'replay' | 'discard',
    query: DeadLetterQuery,
    options: ResolveManyOptions
  ): Promise<ResolvedDeadLetters> => {
    requireKnown(options, ['by', 'signal'])
    const { signal } = options
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new AppError('INVALID_INPUT', 'user', 'The option "signal" is an AbortSignal.')
    const filter = filterOf(query)
    const by = actorOf(options)
    const upToId = await store().newestDeadLetter()
    let [changed, skipped] = [0, 0]
    for (let cursor: string | null = null; upToId !== null && !signal?.aborted;) {
      const step: DeadLetterStep = await store()[action](filter, { upToId, limit: deadLetterLimits.step, cursor, by })
      changed += step.changed
      skipped += step.skipped
      if (step.nextCursor === null) break
      cursor = step.nextCursor
    }
    return { changed, skipped }
  }
  return {
    list: async (query = {}, { limit = deadLetterLimits.page, cursor = null } = {}) =>
      store().deadLetters(filterOf(query), limit, cursor),
    count: async (query = {}) => store().countDeadLetters(filterOf(query), mostCounted),
    replay: (query = {}, options = {}) => all('replay', query, options),
    discard: (query = {}, options = {}) => all('discard', query, options),
    resolve: async (id, action, options = {}) => {
      requireKnown(options, ['by'])
      requireOneOf('action', action, actions)
      return store().resolveDeadLetter(id, action, actorOf(options))
    }
  }
}

function filterOf(query: DeadLetterQuery): DeadLetterFilter {
  const parsed = deadLetterFilter.strict().safeParse(query)
  if (parsed.success) return parsed.data
  const reason = z.prettifyError(parsed.error)
  throw new AppError('INVALID_INPUT', 'user', `This filter finds no dead letters: ${reason}`)
}
