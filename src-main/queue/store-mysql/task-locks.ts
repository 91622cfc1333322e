import type { SqlRow, SqlRunner } from '../../kernel/index.ts'
import { longestList } from './held-leases.ts'
import { compareIds, text } from './row-values.ts'
import { chunksOf, marks, padded, perLength } from './statement-text.ts'

/* Locks of tasks, in the one order that all transactions keep: by their ids (decision 0011). */

const selectTasks = (length: number): string => `
SELECT id, type, state, held, waits_for, has_dependents FROM taskdeck_task FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) ORDER BY id FOR UPDATE`

const lockTasks = perLength(selectTasks)
const lockAvailableTasks = perLength((length) => `${selectTasks(length)} SKIP LOCKED`)

/** In the order of ids, which is the callers'. */
export async function lockAll(
  runner: SqlRunner,
  sortedIds: readonly string[],
  statement: (length: number) => string = lockTasks
): Promise<Map<string, SqlRow>> {
  const locked = new Map<string, SqlRow>()
  for (const chunk of chunksOf(sortedIds, longestList)) {
    const ids = padded(chunk.map(BigInt))
    const { rows } = await runner.execute(statement(ids.length), ids)
    for (const row of rows) locked.set(text(row, 'id'), row)
  }
  return locked
}

/**
 * In a transaction that has locked tasks up to `heldUpTo`: what lies behind it is waited for, what lies before it is only taken when it is
 * free. Undefined when it is not.
 */
export async function lockBehind(
  runner: SqlRunner,
  sortedIds: readonly string[],
  heldUpTo: string
): Promise<Map<string, SqlRow> | undefined> {
  const [lowest] = sortedIds
  if (lowest === undefined || compareIds(lowest, heldUpTo) > 0) return lockAll(runner, sortedIds)
  const locked = await lockAll(runner, sortedIds, lockAvailableTasks)
  return locked.size === sortedIds.length ? locked : undefined
}

/** '0' of none. */
export function greatestId(ids: Iterable<string>): string {
  let greatest = '0'
  for (const id of ids) if (compareIds(id, greatest) > 0) greatest = id
  return greatest
}
