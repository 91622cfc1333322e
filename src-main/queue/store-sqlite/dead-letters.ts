import {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterResolution,
  type DeathReason,
  type TaskState
} from '../../kernel/index.ts'
import { deadLetterLimits, requireOpen } from '../dead-letters.ts'
import { storableActor } from '../stored-text.ts'
import type { ActionResult, DeadLetterPage, DeadLetterRange, DeadLetterStep } from '../task-store.ts'
import { unknownCursor } from '../unknown-cursor.ts'
import { retryFailed } from './act.ts'
import { rowId, type QueueFile, type Session, type SqliteValue } from './queue-file.ts'
import { toMs } from './task-rows.ts'

const columns = `CAST(id AS TEXT) AS id, CAST(task_id AS TEXT) AS task_id, attempt, type, owner, title, died_at, reason,
  first_error_code, first_error_message, last_error_code, last_error_message, resolution, resolved_at, resolved_by`

interface LetterRow {
  readonly id: string
  readonly task_id: string
  readonly attempt: number
  readonly type: string
  readonly owner: string
  readonly title: string
  readonly died_at: number
  readonly reason: DeathReason
  readonly first_error_code: string | null
  readonly first_error_message: string | null
  readonly last_error_code: string | null
  readonly last_error_message: string | null
  readonly resolution: DeadLetterResolution
  readonly resolved_at: number | null
  readonly resolved_by: string | null
}

interface Statement {
  readonly sql: string
  readonly values: readonly SqliteValue[]
}

/** One type has an index of its own; of several, all types are walked. Either holds every column of the filter, and ends with the id. */
function conditionOf({ resolution, types, reason, errorCode }: DeadLetterFilter): Statement {
  const isOneType = types.length === 1
  const parts = [
    `FROM taskdeck_dead_letter INDEXED BY taskdeck_dead_letter_${isOneType ? 'type' : 'newest'} WHERE resolution = ?`
  ]
  const values: SqliteValue[] = [resolution]
  if (isOneType) parts.push('type = ?')
  else if (types.length > 0) parts.push(`+type IN (${types.map(() => '?').join(', ')})`)
  values.push(...types)
  if (reason !== null) {
    parts.push('reason = ?')
    values.push(reason)
  }
  if (errorCode !== null) {
    parts.push('last_error_code = ?')
    values.push(errorCode)
  }
  return { sql: parts.join(' AND '), values }
}

export function pageOf(filter: DeadLetterFilter, before: bigint | null, limit: number): Statement {
  const { sql, values } = conditionOf(filter)
  const keyset = before === null ? '' : ' AND taskdeck_dead_letter.id < ?'
  return {
    sql: `SELECT ${columns} ${sql}${keyset} ORDER BY taskdeck_dead_letter.id DESC LIMIT ?`,
    values: [...values, ...(before === null ? [] : [before]), limit]
  }
}

/** Without the texts: a step of many needs no more memory than their ids. */
export function stepOf(filter: DeadLetterFilter, range: { after: bigint; upTo: bigint }, limit: number): Statement {
  const { sql, values } = conditionOf(filter)
  return {
    sql: `SELECT CAST(id AS TEXT) AS id, CAST(task_id AS TEXT) AS task_id ${sql}
AND taskdeck_dead_letter.id > ? AND taskdeck_dead_letter.id <= ? ORDER BY taskdeck_dead_letter.id LIMIT ?`,
    values: [...values, range.after, range.upTo, limit]
  }
}

const newest = 'SELECT CAST(MAX(id) AS TEXT) AS id FROM taskdeck_dead_letter'
const findLetter = `
SELECT CAST(letter.task_id AS TEXT) AS task_id, letter.resolution, task.state
FROM taskdeck_dead_letter AS letter LEFT JOIN taskdeck_task AS task ON task.id = letter.task_id WHERE letter.id = :id`
const discardLetter = `
UPDATE taskdeck_dead_letter SET resolution = 'DISCARDED', resolved_at = :at, resolved_by = :by
WHERE id = :id AND resolution = 'OPEN'`

export async function listDeadLetters(
  file: QueueFile,
  filter: DeadLetterFilter,
  page: { readonly limit: number; readonly cursor: string | null }
): Promise<DeadLetterPage> {
  const limit = Math.min(deadLetterLimits.page, Math.max(1, Math.floor(page.limit)))
  const { sql, values } = pageOf(filter, page.cursor === null ? null : cursorId(page.cursor), limit)
  return file.read((session) => {
    const rows = session.allOnce<LetterRow>(sql, values).map(toLetter)
    return { rows, nextCursor: rows.length === limit ? (rows.at(-1)?.id ?? null) : null }
  })
}

export function countDeadLetters(file: QueueFile, filter: DeadLetterFilter, mostCounted: number): Promise<number> {
  const { sql, values } = conditionOf(filter)
  const limit = Math.max(0, Math.floor(mostCounted)) + 1
  return file.read((session) => {
    const [row] = session.allOnce<{ n: number }>(`SELECT COUNT(*) AS n FROM (SELECT 1 ${sql} LIMIT ?)`, [
      ...values,
      limit
    ])
    return row?.n ?? 0
  })
}

export const newestDeadLetter = (file: QueueFile): Promise<string | null> =>
  file.read((session) => session.get<{ id: string | null }>(newest)?.id ?? null)

export interface StepOptions extends DeadLetterRange {
  readonly action: 'replay' | 'discard'
}

/** One transaction a step. What it finds cannot change before it writes, so `skipped` counts only tasks that are gone. */
export async function resolveStep(
  file: QueueFile,
  filter: DeadLetterFilter,
  { action, upToId, limit: wanted, cursor, ...rest }: StepOptions
): Promise<DeadLetterStep> {
  requireOpen(filter)
  const by = storableActor(rest.by)
  const limit = Math.min(deadLetterLimits.step, Math.max(1, Math.floor(wanted)))
  const range = { after: cursor === null ? 0n : cursorId(cursor), upTo: cursorId(upToId) }
  const { sql, values } = stepOf(filter, range, limit)
  return file.write((session) => {
    const found = session.allOnce<{ id: string; task_id: string }>(sql, values)
    const changed = found.filter((letter) =>
      action === 'discard' ? discard(session, letter.id, by) : retryFailed(session, BigInt(letter.task_id), by)
    ).length
    return {
      changed,
      skipped: found.length - changed,
      nextCursor: found.length === limit ? (found.at(-1)?.id ?? null) : null
    }
  })
}

export async function resolveDeadLetter(
  file: QueueFile,
  id: string,
  { action, by: actor }: Pick<StepOptions, 'action' | 'by'>
): Promise<ActionResult> {
  const by = storableActor(actor)
  const letterId = rowId(id)
  if (letterId === undefined) return { status: 'missing' }
  return file.write((session): ActionResult => {
    const letter = session.get<{ task_id: string; resolution: DeadLetterResolution; state: TaskState | null }>(
      findLetter,
      { id: letterId }
    )
    if (!letter) return { status: 'missing' }
    if (action === 'discard' && letter.resolution === 'OPEN') {
      discard(session, id, by)
      return { status: 'done', from: 'FAILED', to: 'FAILED' }
    }
    const { state } = letter
    if (state === null) return { status: 'missing' }
    if (letter.resolution !== 'OPEN') return { status: 'refused', state }
    const isDone = retryFailed(session, BigInt(letter.task_id), by)
    return isDone ? { status: 'done', from: 'FAILED', to: 'QUEUED' } : { status: 'refused', state }
  })
}

const discard = (session: Session, id: string, by: string): boolean =>
  session.run(discardLetter, { id: BigInt(id), at: session.at, by }).changes === 1

function cursorId(cursor: string): bigint {
  const id = rowId(cursor)
  if (id === undefined) throw unknownCursor()
  return id
}

const toLetter = (row: LetterRow): DeadLetter => ({
  id: row.id,
  taskId: row.task_id,
  attempt: row.attempt,
  type: row.type,
  owner: row.owner,
  title: row.title,
  diedAt: row.died_at / 1000,
  reason: row.reason,
  firstError: causeOf(row.first_error_code, row.first_error_message),
  lastError: causeOf(row.last_error_code, row.last_error_message),
  resolution: row.resolution,
  resolvedAt: toMs(row.resolved_at),
  resolvedBy: row.resolved_by
})

const causeOf = (code: string | null, message: string | null): DeadLetter['firstError'] =>
  code === null ? null : { code, message: message ?? '' }
