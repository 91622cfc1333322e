import type { TaskFilter, TaskState } from '../../kernel/index.ts'
import type { TaskPage } from '../task-store.ts'
import { unknownCursor } from '../unknown-cursor.ts'
import { effectivePolicies } from './policies.ts'
import { rowId, type QueueFile, type Session, type SqliteValue } from './queue-file.ts'
import { summaryColumns, toMicroseconds, toSummary, type SummaryRow } from './task-rows.ts'

const largestPage = 500

interface Condition {
  readonly sql: string
  readonly values: readonly SqliteValue[]
}

/** Tasks that are looked at in one go, and how many goes one call may take: some 5 ms each. */
const idsPerStep = 10_000
const mostSteps = 20

/**
 * Newest first by id; the cursor is the id below which the next page begins. What only looking at each task can tell is looked
 * for in bounded steps: a page may then be short and its cursor goes on from there.
 */
export async function listTasks(
  file: QueueFile,
  filter: TaskFilter,
  page: { readonly limit: number; readonly cursor: string | null }
): Promise<TaskPage> {
  const limit = Math.min(largestPage, Math.max(1, Math.floor(page.limit)))
  const rows: SummaryRow[] = []
  let before = cursorId(page.cursor)
  for (let step = 0; step < mostSteps; step++) {
    const found = await file.read((session) => tryStep(session, filter, { before, wanted: limit + 1 - rows.length }))
    rows.push(...found.rows)
    before = found.reached
    if (rows.length > limit || before === null) break
    await file.letOthersRun()
  }
  const policies = await file.read(effectivePolicies)
  const shown = rows.slice(0, limit).map((row) => toSummary(row, policies))
  const next = rows.length > limit ? (shown.at(-1)?.id ?? null) : before === null ? null : String(before)
  return { rows: shown, nextCursor: next }
}

/** `reached`: the lowest id that was tried; null when there is none below it. */
function tryStep(
  session: Session,
  filter: TaskFilter,
  from: { readonly before: bigint | null; readonly wanted: number }
): { rows: SummaryRow[]; reached: bigint | null } {
  const { page, candidates, mostCandidates } = listStatements(filter, from.before, from.wanted)
  const rows = session.allOnce<SummaryRow>(page.sql, page.values)
  if (rows.length >= from.wanted) return { rows, reached: null }
  const [tried] = session.allOnce<{ n: number; lowest: string | null }>(candidates.sql, candidates.values)
  const lowest = tried && tried.n >= mostCandidates ? tried.lowest : null
  return { rows, reached: lowest === null ? null : BigInt(lowest) }
}

function cursorId(cursor: string | null): bigint | null {
  if (cursor === null) return null
  const id = rowId(cursor)
  if (id === undefined) throw unknownCursor()
  return id
}

/**
 * The candidates first, one branch a state: SQLite walks each branch's index backwards and merges them until there are enough,
 * so neither rare states nor many rows cost a sort. Without states it walks the table itself.
 */
export function listStatements(filter: TaskFilter, before: bigint | null, wanted: number) {
  const states: (TaskState | null)[] = filter.states.length === 0 ? [null] : [...new Set(filter.states)]
  const branches = states.map((state) => branch(state, before))
  const others = conditions(filter)
  const mostCandidates = others.length === 0 ? wanted : idsPerStep
  const ids = `${branches.map(({ sql }) => sql).join('\n  UNION ALL\n  ')}\n  ORDER BY id DESC LIMIT ?`
  const idValues = [...branches.flatMap(({ values }) => values), mostCandidates]
  const where = [`id IN (\n  ${ids}\n)`, ...others.map(({ sql }) => sql)].join(' AND ')
  const page: Condition = {
    sql: `SELECT ${summaryColumns} FROM taskdeck_task WHERE ${where} ORDER BY taskdeck_task.id DESC LIMIT ?`,
    values: [...idValues, ...others.flatMap(({ values }) => values), wanted]
  }
  const candidates: Condition = {
    sql: `SELECT COUNT(*) AS n, CAST(MIN(id) AS TEXT) AS lowest FROM (\n  ${ids}\n)`,
    values: idValues
  }
  return { page, candidates, mostCandidates }
}

function branch(state: TaskState | null, before: bigint | null): Condition {
  const all: Condition[] = []
  if (state !== null) all.push({ sql: 'state = ?', values: [state] })
  if (before !== null) all.push({ sql: 'id < ?', values: [before] })
  const where = all.length === 0 ? '' : ` WHERE ${all.map(({ sql }) => sql).join(' AND ')}`
  const index = state === null ? '' : ' INDEXED BY taskdeck_task_state'
  return { sql: `SELECT id FROM taskdeck_task${index}${where}`, values: all.flatMap(({ values }) => values) }
}

function conditions(filter: TaskFilter): Condition[] {
  const found: Condition[] = []
  const add = (sql: string, ...values: SqliteValue[]): unknown => found.push({ sql, values })
  if (filter.types.length > 0) add(`type IN (${filter.types.map(() => '?').join(', ')})`, ...filter.types)
  if (filter.owner !== null) add('owner = ?', filter.owner)
  if (filter.workerId !== null) add('worker_id = ?', filter.workerId)
  if (filter.errorCode !== null) add('error_code = ?', filter.errorCode)
  if (filter.createdFrom !== null) add('created_at >= ?', toMicroseconds(filter.createdFrom))
  if (filter.createdTo !== null) add('created_at <= ?', toMicroseconds(filter.createdTo))
  if (filter.search !== null && filter.search !== '') found.push(search(filter.search))
  return found
}

/** An id, a business key or the start of a title, in which % and _ mean themselves. */
function search(text: string): Condition {
  const id = rowId(text)
  return {
    sql: '(id = ? OR business_key = ? OR substr(title, 1, ?) = ?)',
    values: [id ?? null, text, [...text].length, text]
  }
}
