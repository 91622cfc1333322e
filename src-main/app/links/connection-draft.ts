import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { StoredConnection } from '../../connections/index.ts'
import type { connectionDraft } from '../../contract/index.ts'
import { AppError } from '../../kernel/index.ts'

/** What the page sends to save or test a connection, checked and complete. */
export type ParsedDraft = z.output<typeof connectionDraft>

/** A draft as it is stored: under the id of the one that it changes, or a new one. */
export function storedFrom(draft: ParsedDraft, known: StoredConnection | null): StoredConnection {
  const { name, environment, accessMode, mysql } = draft
  return { id: known?.id ?? newId(name), name, environment, accessMode, mysql }
}

/** Whether its tasks are others than before. */
export const isElsewhere = ({ mysql: before }: StoredConnection, { mysql: after }: StoredConnection): boolean =>
  before.host !== after.host || before.port !== after.port || before.database !== after.database

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

function newId(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `${words || 'connection'}-${randomBytes(3).toString('hex')}`
}
