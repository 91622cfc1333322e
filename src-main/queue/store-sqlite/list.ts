import type { TaskFilter, TaskState } from '../../kernel/index.ts'
import type { TaskPage } from '../task-store.ts'
import { rowId, unknownCursor, type QueueFile, type SqliteValue } from './queue-file.ts'
import { summaryColumns, toMicroseconds, toSummary, type SummaryRow } from './task-rows.ts'

const largestPage = 500

interface Condition {
  readonly sql: string
  readonly values: readonly SqliteValue[]
}

/** Newest first by id. The cursor is the id of the last row of the page before. */
export async function listTasks(
  file: QueueFile,
  filter: TaskFilter,
  page: { readonly limit: number; readonly cursor: string | null }
): Promise<TaskPage> {
  const limit = Math.min(largestPage, Math.max(1, Math.floor(page.limit)))
  const { sql, values } = listStatement(filter, cursorId(page.cursor), limit + 1)
  const rows = await file.read((session) => session.allOnce<SummaryRow>(sql, values))
  const shown = rows.slice(0, limit).map(toSummary)
  return { rows: shown, nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null }
}

function cursorId(cursor: string | null): bigint | null {
  if (cursor === null) return null
  const id = rowId(cursor)
  if (id === undefined) throw unknownCursor()
  return id
}

/**
 * The ids first, one branch a state: SQLite walks each branch's index backwards and merges them until the page is full, so
 * neither rare states nor many rows cost a sort. Without states it walks the table itself.
 */
export function listStatement(filter: TaskFilter, before: bigint | null, limit: number): Condition {
  const shared = conditions(filter, before)
  const states: (TaskState | null)[] = filter.states.length === 0 ? [null] : [...new Set(filter.states)]
  const branches = states.map((state) => branch(state, shared))
  const ids = branches.map(({ sql }) => sql).join('\n  UNION ALL\n  ')
  return {
    sql: `SELECT ${summaryColumns} FROM taskdeck_task WHERE id IN (
  ${ids}
  ORDER BY id DESC LIMIT ?
) ORDER BY taskdeck_task.id DESC`,
    values: [...branches.flatMap(({ values }) => values), limit]
  }
}

function branch(state: TaskState | null, shared: readonly Condition[]): Condition {
  const all = state === null ? shared : [{ sql: 'state = ?', values: [state] }, ...shared]
  const where = all.length === 0 ? '' : ` WHERE ${all.map(({ sql }) => sql).join(' AND ')}`
  const index = state === null ? '' : ' INDEXED BY taskdeck_task_state'
  return { sql: `SELECT id FROM taskdeck_task${index}${where}`, values: all.flatMap(({ values }) => values) }
}

function conditions(filter: TaskFilter, before: bigint | null): Condition[] {
  const found: Condition[] = []
  const add = (sql: string, ...values: SqliteValue[]): unknown => found.push({ sql, values })
  if (before !== null) add('id < ?', before)
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
