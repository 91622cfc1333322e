import {
  leasedStates,
  type SqlDatabase,
  type SqlRow,
  type SqlValue,
  type TaskFilter,
  type TaskState
} from '../../kernel/index.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import type { TaskPage } from '../task-store.ts'
import { unknownCursor } from '../unknown-cursor.ts'
import { effectivePolicies } from './policies.ts'
import { rowId, text, utcText } from './row-values.ts'
import { marks, padded } from './statement-text.ts'
import { summaryColumns, toSummary } from './task-rows.ts'

const largestPage = 500

/**
 * A filter that no index serves walks the table by id, newest first, in steps of this many ids, and at most so many steps a call: the
 * page is then short and its cursor goes on from there. Measured: a step takes about 15 ms.
 */
const idsPerStep = 20_000n
const mostSteps = 20
/** The same of the ids of rare states: each is looked up in the table. Measured: a step takes about 30 ms a state. */
const notableIdsPerStep = 5_000

/** States that have an index in the order of ids, so that a few of them are found among millions. */
const notableStates: readonly TaskState[] = ['FAILED', 'CANCELLED', 'PARTIAL_SUCCESS']

interface Condition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

interface Search {
  readonly conditions: readonly Condition[]
  readonly states: readonly TaskState[]
  readonly limit: number
}

/** Newest first by id. The cursor is the id below which the next page begins. */
export async function listTasks(
  database: SqlDatabase,
  filter: TaskFilter,
  page: { readonly limit: number; readonly cursor: string | null }
): Promise<TaskPage> {
  const limit = Math.min(largestPage, Math.max(1, Math.floor(page.limit)))
  const before = cursorId(page.cursor)
  const search = { conditions: conditionsOf(filter), states: [...new Set(filter.states)], limit: limit + 1 }
  const isIndexed = search.states.length > 0 && search.states.every((state) => indexOf(state) !== undefined)
  const { rows, reached } = await (isIndexed ? findIndexed(database, search, before) : walk(database, search, before))
  return toPage(rows, { limit, reached, policies: await effectivePolicies(database) })
}

function cursorId(cursor: string | null): bigint | null {
  if (cursor === null) return null
  const id = rowId(cursor)
  if (id === undefined) throw unknownCursor()
  return id
}

interface PageEnd {
  readonly limit: number
  /** Where the walk stopped for its bound; null when it saw everything or found enough. */
  readonly reached: bigint | null
  readonly policies: EffectivePolicies
}

function toPage(rows: readonly SqlRow[], { limit, reached, policies }: PageEnd): TaskPage {
  const shown = rows.slice(0, limit).map((row) => toSummary(row, policies))
  const next = rows.length > limit ? (shown.at(-1)?.id ?? null) : reached === null ? null : String(reached)
  return { rows: shown, nextCursor: next }
}

function indexOf(state: TaskState): Condition | undefined {
  if (notableStates.includes(state))
    return { sql: 'FORCE INDEX (taskdeck_task_notable) WHERE notable_state = ?', values: [state] }
  // Leases are few: they are all read and sorted.
  if ((leasedStates as readonly TaskState[]).includes(state))
    return { sql: 'FORCE INDEX (taskdeck_task_lease) WHERE lease_until IS NOT NULL AND state = ?', values: [state] }
  return undefined
}

interface Found {
  readonly rows: SqlRow[]
  readonly reached: bigint | null
}

/** Without further conditions the limit ends it. With them, of many tasks in these states few may match, and all would be looked up. */
async function findIndexed(database: SqlDatabase, search: Search, before: bigint | null): Promise<Found> {
  if (search.conditions.length === 0) return { rows: await findByState(database, search, { before }), reached: null }
  const rows: SqlRow[] = []
  let upper = before
  for (let step = 0; step < mostSteps; step++) {
    const from = await stepFrom(database, search.states, upper)
    const left = { ...search, limit: search.limit - rows.length }
    rows.push(...(await findByState(database, left, { before: upper, from })))
    if (rows.length === search.limit || from === null) return { rows, reached: null }
    upper = from
  }
  return { rows, reached: upper }
}

/** The lowest id of a step below `before`, by the state that has the most tasks there; null when the step holds all that are left. */
async function stepFrom(
  database: SqlDatabase,
  states: readonly TaskState[],
  before: bigint | null
): Promise<bigint | null> {
  const below = before === null ? { sql: '', values: [] } : { sql: 'AND id < ?', values: [before] }
  let lowest: bigint | null = null
  for (const state of states.filter((one) => notableStates.includes(one))) {
    const sql = `SELECT id FROM taskdeck_task FORCE INDEX (taskdeck_task_notable) WHERE notable_state = ? ${below.sql}
ORDER BY id DESC LIMIT 1 OFFSET ?`
    const [row] = (await database.execute(sql, [state, ...below.values, notableIdsPerStep - 1])).rows
    const id = row ? BigInt(text(row, 'id')) : null
    if (id !== null && (lowest === null || id > lowest)) lowest = id
  }
  return lowest
}

/** One branch a state, each newest first by its index and stopping at the limit. */
async function findByState(
  database: SqlDatabase,
  search: Search,
  { before = null, from = null }: { readonly before?: bigint | null; readonly from?: bigint | null }
): Promise<SqlRow[]> {
  const found: SqlRow[] = []
  const conditions = [
    ...(before === null ? [] : [{ sql: 'id < ?', values: [before] }]),
    ...(from === null ? [] : [{ sql: 'id >= ?', values: [from] }]),
    ...search.conditions
  ]
  for (const state of search.states) {
    const index = indexOf(state)
    if (!index) continue
    const sql = `SELECT ${summaryColumns} FROM taskdeck_task ${[index, ...conditions].map((part) => part.sql).join(' AND ')}
ORDER BY id DESC LIMIT ?`
    const values = [...index.values, ...conditions.flatMap((part) => part.values), search.limit]
    found.push(...(await database.execute(sql, values)).rows)
  }
  return found.sort((a, b) => (BigInt(text(a, 'id')) > BigInt(text(b, 'id')) ? -1 : 1)).slice(0, search.limit)
}

async function walk(database: SqlDatabase, search: Search, before: bigint | null): Promise<Found> {
  const [ends] = (await database.execute('SELECT MIN(id) AS lowest, MAX(id) AS highest FROM taskdeck_task')).rows
  if (!ends || ends['lowest'] === null) return { rows: [], reached: null }
  const lowest = BigInt(text(ends, 'lowest'))
  const highest = BigInt(text(ends, 'highest'))
  const stateCondition = search.states.length === 0 ? [] : [inCondition('state', search.states)]
  const conditions = [...stateCondition, ...search.conditions]
  const where = ['id >= ?', 'id <= ?', ...conditions.map(({ sql }) => sql)].join(' AND ')
  const sql = `SELECT ${summaryColumns} FROM taskdeck_task FORCE INDEX (PRIMARY) WHERE ${where} ORDER BY id DESC LIMIT ?`
  const rows: SqlRow[] = []
  let upper = before === null || before > highest ? highest : before - 1n
  // Without conditions the first step would only be a detour.
  const size = conditions.length === 0 ? upper + 1n : idsPerStep
  for (let step = 0; step < mostSteps && upper >= lowest; step++) {
    const lower = upper >= size ? upper - size + 1n : 0n
    const values = [lower, upper, ...conditions.flatMap((part) => part.values), search.limit - rows.length]
    rows.push(...(await database.execute(sql, values)).rows)
    if (rows.length === search.limit) return { rows, reached: null }
    upper = lower - 1n
  }
  return { rows, reached: upper >= lowest ? upper + 1n : null }
}

function conditionsOf(filter: TaskFilter): Condition[] {
  const found: Condition[] = []
  const add = (sql: string, ...values: SqlValue[]): unknown => found.push({ sql, values })
  if (filter.types.length > 0) found.push(inCondition('type', filter.types))
  if (filter.owner !== null) add('owner = ?', filter.owner)
  if (filter.workerId !== null) add('worker_id = ?', filter.workerId)
  if (filter.errorCode !== null) add('error_code = ?', filter.errorCode)
  if (filter.createdFrom !== null) add('created_at >= ?', utcText(filter.createdFrom))
  // The stored time has microseconds, the bound milliseconds: the whole last millisecond belongs to it.
  if (filter.createdTo !== null) add('created_at < ?', utcText(filter.createdTo + 1))
  if (filter.search !== null && filter.search !== '') found.push(searchCondition(filter.search))
  return found
}

function inCondition(column: 'state' | 'type', values: readonly string[]): Condition {
  const list = padded(values)
  return { sql: `${column} IN (${marks(list.length)})`, values: list }
}

/** An id, a business key or the start of a title, in which % and _ mean themselves. */
function searchCondition(search: string): Condition {
  return {
    sql: '(id = ? OR business_key = ? OR LEFT(title, ?) = ?)',
    values: [rowId(search) ?? null, search, [...search].length, search]
  }
}
