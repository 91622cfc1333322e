import type { ConnectionView } from '../../contract/index.ts'
import { AppError } from '../../kernel/index.ts'
import { parseProfile, type Condition, type TableProfile } from '../../schema-profiles/index.ts'

/** What a user asked of a table that is only looked at. */
export const foreignTable = (): AppError =>
  new AppError(
    'FOREIGN_TABLE',
    'user',
    "This connection watches another application's table: its figures are shown, its tasks cannot be listed or changed here."
  )

/** Throws INVALID_INPUT that says what to change, with `details.field` "profile". */
export const profileIn = (text: string): TableProfile => parseProfile(text, 'of this connection')

/** What the page gets of a stored text; one that is no profile (any more) has no name. */
export function profileView(text: string | null): ConnectionView['profile'] {
  if (text === null) return null
  const profile = readable(text)
  return { text, name: profile?.name ?? null, table: profile?.table ?? null }
}

/**
 * The same for two texts whose figures mean the same: the table, its types, states and moments. Names may change, and the
 * order in which all of it is written.
 */
export function meaningOf(text: string | null): string {
  const profile = text === null ? null : readable(text)
  if (!profile) return text ?? ''
  const { table, type, times, created } = profile
  const states = profile.states.map(({ state, when, since }) => ({ state, since, when: inOrder(when.map(withOrder)) }))
  return JSON.stringify({ table, type, encodings: inOrder(Object.entries(times)), created, states: inOrder(states) })
}

const withOrder = (one: Condition): Condition => {
  if ('in' in one) return { ...one, in: inOrder(one.in) }
  return 'notIn' in one ? { ...one, notIn: inOrder(one.notIn) } : one
}
/** As it would be however it was written. */
const inOrder = <T>(all: readonly T[]): T[] => [...all].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

function readable(text: string): TableProfile | null {
  try {
    return profileIn(text)
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_INPUT') return null
    throw error
  }
}
