import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { StoredConnection } from '../../connections/index.ts'
import type { connectionDraft } from '../../contract/index.ts'
import { AppError } from '../../kernel/index.ts'
import type { TableProfile } from '../../schema-profiles/index.ts'
import { foreignTable, meaningOf, profileIn } from './foreign-profile.ts'

/** What the page sends to save or test a connection, checked and complete. */
export type ParsedDraft = z.output<typeof connectionDraft>

/** A draft as it is stored: under the id of the one that it changes, or a new one. */
export function storedFrom(draft: ParsedDraft, known: StoredConnection | null): StoredConnection {
  const { name, environment, accessMode, mysql, profile } = draft
  return { id: known?.id ?? newId(name), name, environment, accessMode, mysql, profile }
}

/** Whether its tasks are others than before, or are understood in another way. */
export const isElsewhere = (before: StoredConnection, after: StoredConnection): boolean =>
  before.mysql.host !== after.mysql.host ||
  before.mysql.port !== after.mysql.port ||
  before.mysql.database !== after.mysql.database ||
  meaningOf(before.profile) !== meaningOf(after.profile)

/** Changing production takes the typed name, which only `setAccessMode` asks for. Throws INVALID_INPUT. */
export function refuseUnconfirmedWriting(draft: ParsedDraft, known: StoredConnection | null): void {
  if (draft.environment !== 'production' || draft.accessMode === 'read-only') return
  if (known?.environment === 'production' && known.accessMode === 'read-write') return
  throw new AppError(
    'INVALID_INPUT',
    'user',
    'Save a production connection as read-only; then switch it to read-write by typing its name.',
    { details: { field: 'accessMode' } }
  )
}

/** null for our own tables. Throws INVALID_INPUT for a text that is no profile, FOREIGN_TABLE for one with a wish to write. */
export function usableProfile({
  profile,
  accessMode
}: Pick<ParsedDraft, 'profile' | 'accessMode'>): TableProfile | null {
  if (profile === null) return null
  const usable = profileIn(profile)
  if (accessMode === 'read-write') throw foreignTable()
  return usable
}

function newId(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `${words || 'connection'}-${randomBytes(3).toString('hex')}`
}
