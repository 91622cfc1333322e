import {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterResolution,
  type DeathReason,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type SqlValue
} from '../../kernel/index.ts'
import { deadLetterLimits, requireOpen } from '../dead-letters.ts'
import { storableActor } from '../stored-text.ts'
import type { ActionResult, DeadLetterPage, DeadLetterRange, DeadLetterStep } from '../task-store.ts'
import { unknownCursor } from '../unknown-cursor.ts'
import { replayTasks } from './act.ts'
import { closeLetters } from './dead-letters.ts'
import { longestList } from './held-leases.ts'
import { countAgain } from './quotas.ts'
import { repeatable } from './repeatable.ts'
import { compareIds, count, rowId, text, textOrNull, time, timeOrNull } from './row-values.ts'
import { chunksOf, marks, padded, perLength } from './statement-text.ts'
import { lockAll } from './task-locks.ts'

const columns = `id, task_id, attempt, type, owner, title, died_at, reason, first_error_code, first_error_message,
  last_error_code, last_error_message, resolution, resolved_at, resolved_by`

interface Condition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** One type has an index of its own; of several, all types are walked. Either holds every column of the filter, and ends with the id. */
function conditionOf({ resolution, types, reason, errorCode }: DeadLetterFilter): Condition {
  const comparable = types.map(comparableType)
  const [type, ...more] = comparable
  const index = type !== undefined && more.length === 0 ? 'taskdeck_dead_letter_type' : 'taskdeck_dead_letter_newest'
  const parts: Condition[] = [
    { sql: `FROM taskdeck_dead_letter FORCE INDEX (${index}) WHERE resolution = ?`, values: [resolution] }
  ]
  if (type !== undefined && more.length === 0) parts.push({ sql: ' AND type = ?', values: [type] })
  if (more.length > 0) {
    const list = padded(comparable)
    parts.push({ sql: ` AND type IN (${marks(list.length)})`, values: list })
  }
  if (reason !== null) parts.push({ sql: ' AND reason = ?', values: [reason] })
  if (errorCode !== null) parts.push({ sql: ' AND last_error_code = ?', values: [errorCode] })
  return { sql: parts.map(({ sql }) => sql).join(''), values: parts.flatMap(({ values }) => values) }
}

/** The column is ASCII and no index serves its comparison with another text. No stored type has a NUL, which stands for such a one. */
const comparableType = (type: string): string => (/^[\x20-\x7e]*$/.test(type) ? type : '\0')

/** The ids only, out of the index: walked backwards, MariaDB reads each row before it looks at the rest of the filter. */
export function pageOf(filter: DeadLetterFilter, before: bigint | null, limit: number): Condition {
  const { sql, values } = conditionOf(filter)
  const keyset: Condition = before === null ? { sql: '', values: [] } : { sql: ' AND id < ?', values: [before] }
  return {
    sql: `SELECT id ${sql}${keyset.sql} ORDER BY id DESC LIMIT ?`,
    values: [...values, ...keyset.values, limit]
  }
}

/** Without the texts: a step of many needs no more memory than their ids. */
export function stepOf(filter: DeadLetterFilter, range: { after: bigint; upTo: bigint }, limit: number): Condition {
  const { sql, values } = conditionOf(filter)
  return {
    sql: `SELECT id, task_id, type ${sql} AND id > ? AND id <= ? ORDER BY id LIMIT ?`,
    values: [...values, range.after, range.upTo, limit]
  }
}

const findLetters = perLength(
  (length) => `SELECT ${columns} FROM taskdeck_dead_letter FORCE INDEX (PRIMARY) WHERE id IN (${marks(length)})`
)
const newest = 'SELECT MAX(id) AS id FROM taskdeck_dead_letter'
const findLetter = 'SELECT task_id, resolution, resolved_by FROM taskdeck_dead_letter WHERE id = ?'
const stateOfTask = 'SELECT state FROM taskdeck_task WHERE id = ?'
const ownersOf = perLength(
  (length) =>
    `SELECT DISTINCT type, owner FROM taskdeck_dead_letter FORCE INDEX (PRIMARY) WHERE id IN (${marks(length)})`
)
const lockOpen = perLength(
  (length) => `
SELECT id, task_id FROM taskdeck_dead_letter FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) AND resolution = 'OPEN' ORDER BY id FOR UPDATE`
)
const discardLetters = perLength(
  (length) => `
UPDATE taskdeck_dead_letter FORCE INDEX (PRIMARY) SET resolution = 'DISCARDED', resolved_at = NOW(6), resolved_by = ?
WHERE id IN (${marks(length)}) AND resolution = 'OPEN'`
)

export async function listDeadLetters(
  database: SqlRunner,
  filter: DeadLetterFilter,
  page: { readonly limit: number; readonly cursor: string | null }
): Promise<DeadLetterPage> {
  const limit = Math.min(deadLetterLimits.page, Math.max(1, Math.floor(page.limit)))
  const before = page.cursor === null ? null : cursorId(page.cursor)
  const { sql, values } = pageOf(filter, before, limit)
  const ids = (await database.execute(sql, values)).rows.map((row) => text(row, 'id'))
  const rows = (await readLetters(database, ids)).sort((a, b) => compareIds(b.id, a.id))
  // By the ids: a letter that is gone in between must not end the list.
  return { rows, nextCursor: ids.length === limit ? (ids.at(-1) ?? null) : null }
}

async function readLetters(database: SqlRunner, ids: readonly string[]): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = []
  for (const chunk of chunksOf(ids, longestList)) {
    const list = padded(chunk.map(BigInt))
    letters.push(...(await database.execute(findLetters(list.length), list)).rows.map(toLetter))
  }
  return letters
}

export async function countDeadLetters(
  database: SqlRunner,
  filter: DeadLetterFilter,
  mostCounted: number
): Promise<number> {
  const { sql, values } = conditionOf(filter)
  const limit = Math.max(0, Math.floor(mostCounted)) + 1
  const { rows } = await database.execute(`SELECT COUNT(*) AS n FROM (SELECT 1 ${sql} LIMIT ?) AS found`, [
    ...values,
    limit
  ])
  return count(rows[0] ?? {}, 'n')
}

export async function newestDeadLetter(database: SqlRunner): Promise<string | null> {
  const [row] = (await database.execute(newest)).rows
  return row ? textOrNull(row, 'id') : null
}

export interface StepOptions extends DeadLetterRange {
  readonly action: 'replay' | 'discard'
}

/** Letters, the tasks that they are of, and who resolves them. */
interface Resolving {
  readonly ids: readonly string[]
  readonly taskIds: readonly string[]
  readonly by: string
}

/** One transaction. Repeated after a lost reply it finds its letters resolved: they are then counted as skipped. */
export async function resolveStep(
  database: SqlDatabase,
  filter: DeadLetterFilter,
  { action, upToId, limit: wanted, cursor, ...rest }: StepOptions
): Promise<DeadLetterStep> {
  requireOpen(filter)
  const by = storableActor(rest.by)
  const limit = Math.min(deadLetterLimits.step, Math.max(1, Math.floor(wanted)))
  const range = { after: cursor === null ? 0n : cursorId(cursor), upTo: cursorId(upToId) }
  const { sql, values } = stepOf(filter, range, limit)
  const found = (await database.execute(sql, values)).rows
  const ids = found.map((row) => text(row, 'id'))
  const taskIds = found.map((row) => text(row, 'task_id'))
  const work = (runner: SqlRunner): Promise<number> => workOf[action](runner, { ids, taskIds, by })
  const changed = ids.length === 0 ? 0 : await database.transaction(work, repeatable)
  return {
    changed,
    skipped: ids.length - changed,
    nextCursor: ids.length === limit ? (ids.at(-1) ?? null) : null
  }
}

/** Gates, tasks, letters: in the order of all transactions. A task that is locked in FAILED has one open letter at most. */
async function replayLetters(runner: SqlRunner, { ids, taskIds, by }: Resolving): Promise<number> {
  const owners: { type: string; owner: string }[] = []
  await onChunks(ids, async (chunk) => {
    const { rows } = await runner.execute(ownersOf(chunk.length), chunk)
    owners.push(...rows.map((row) => ({ type: text(row, 'type'), owner: text(row, 'owner') })))
  })
  await countAgain(runner, owners)
  const tasks = await lockAll(runner, [...new Set(taskIds)].sort(compareIds))
  const open = await lockOpenLetters(runner, ids)
  const dead = open.filter((taskId) => tasks.has(taskId) && text(tasks.get(taskId) ?? {}, 'state') === 'FAILED')
  await onChunks(dead, async (chunk) => {
    await runner.execute(replayTasks(chunk.length), chunk)
    await runner.execute(closeLetters(chunk.length), [by, ...chunk])
  })
  return dead.length
}

async function discardAll(runner: SqlRunner, { ids, by }: Resolving): Promise<number> {
  const open = await lockOpenLetters(runner, ids)
  await onChunks(ids, async (chunk) => void (await runner.execute(discardLetters(chunk.length), [by, ...chunk])))
  return open.length
}

const workOf = { replay: replayLetters, discard: discardAll }

/** The tasks of those that are open. */
async function lockOpenLetters(runner: SqlRunner, ids: readonly string[]): Promise<string[]> {
  const open: string[] = []
  await onChunks(ids, async (chunk) => {
    const { rows } = await runner.execute(lockOpen(chunk.length), chunk)
    open.push(...rows.map((row) => text(row, 'task_id')))
  })
  return open
}

async function onChunks(ids: readonly string[], work: (ids: bigint[]) => Promise<void>): Promise<void> {
  for (const chunk of chunksOf(ids, longestList)) await work(padded(chunk.map(BigInt)))
}

/** What a letter becomes, and its task. */
const resolutions = {
  replay: { resolution: 'REPLAYED', to: 'QUEUED' },
  discard: { resolution: 'DISCARDED', to: 'FAILED' }
} as const

export async function resolveDeadLetter(
  database: SqlDatabase,
  id: string,
  { action, by: actor }: Pick<StepOptions, 'action' | 'by'>
): Promise<ActionResult> {
  const by = storableActor(actor)
  const letterId = rowId(id)
  const [letter] = letterId === undefined ? [] : (await database.execute(findLetter, [letterId])).rows
  if (!letter || letterId === undefined) return { status: 'missing' }
  const taskId = text(letter, 'task_id')
  if (text(letter, 'resolution') !== 'OPEN') return refused(database, taskId)
  const { resolution, to } = resolutions[action]
  const resolving = { ids: [letterId.toString()], taskIds: [taskId], by }
  // Another one may have resolved it after the server had undone this. Two processes of one actor are not told apart.
  const readBack = async (runner: SqlRunner): Promise<number | undefined> => {
    const [row] = (await runner.execute(findLetter, [letterId])).rows
    return row && text(row, 'resolution') === resolution && textOrNull(row, 'resolved_by') === by ? 1 : undefined
  }
  const changed = await database.transaction((runner) => workOf[action](runner, resolving), { readBack })
  return changed === 1 ? { status: 'done', from: 'FAILED', to } : refused(database, taskId)
}

async function refused(database: SqlRunner, taskId: string): Promise<ActionResult> {
  const [row] = (await database.execute(stateOfTask, [BigInt(taskId)])).rows
  return row ? { status: 'refused', state: text(row, 'state') as 'FAILED' } : { status: 'missing' }
}

function cursorId(cursor: string): bigint {
  const id = rowId(cursor)
  if (id === undefined) throw unknownCursor()
  return id
}

function toLetter(row: SqlRow): DeadLetter {
  const cause = (which: 'first' | 'last'): DeadLetter['firstError'] => {
    const code = textOrNull(row, `${which}_error_code`)
    return code === null ? null : { code, message: textOrNull(row, `${which}_error_message`) ?? '' }
  }
  return {
    id: text(row, 'id'),
    taskId: text(row, 'task_id'),
    attempt: count(row, 'attempt'),
    type: text(row, 'type'),
    owner: text(row, 'owner'),
    title: text(row, 'title'),
    diedAt: time(row, 'died_at'),
    reason: text(row, 'reason') as DeathReason,
    firstError: cause('first'),
    lastError: cause('last'),
    resolution: text(row, 'resolution') as DeadLetterResolution,
    resolvedAt: timeOrNull(row, 'resolved_at'),
    resolvedBy: textOrNull(row, 'resolved_by')
  }
}
