import { AppError, isTerminal, type SqlDatabase, type SqlRunner } from '../../kernel/index.ts'
import { endingLimits } from '../dependents.ts'
import type { Recovered } from '../task-store.ts'
import { Cascade, idsOf, readOpen, runOn, stateOf, toOpen, type SettledDependents } from './endings.ts'
import { repeatable } from './repeatable.ts'
import { text } from './row-values.ts'
import { marks, padded, perLength } from './statement-text.ts'
import { greatestId, lockAll } from './task-locks.ts'

/* The rest of what waited for tasks that ended: noted in taskdeck_ending, done in transactions of its own by any process. */

/** In the order of the index: behind what earlier steps have settled, whose entries may not be purged yet. */
export const openDependentsAfter = `
SELECT waits_for_id, task_id, after_failure FROM taskdeck_dependency FORCE INDEX (taskdeck_dependency_waits_for)
WHERE waits_for_id = ? AND settled = 0 AND task_id > ? ORDER BY task_id LIMIT ?`

const findEndings = `SELECT task_id, done_up_to FROM taskdeck_ending ORDER BY task_id LIMIT ${endingLimits.parents}`
const readEndings = perLength(
  (length) => `SELECT task_id, done_up_to FROM taskdeck_ending WHERE task_id IN (${marks(length)})`
)
const moveEnding = 'UPDATE taskdeck_ending SET done_up_to = ? WHERE task_id = ?'
const dropEndings = perLength((length) => `DELETE FROM taskdeck_ending WHERE task_id IN (${marks(length)})`)

/** After the ends of one call: a few more steps at once. What is left, or cannot be done now, is for recovery. */
const stepsAtOnce = 4

/**
 * Follows a transaction that settled some; its outcome is committed, so nothing that goes wrong here may look like its failure. Returns all
 * that changed, what the transaction changed included.
 */
export async function finishSome(database: SqlDatabase, settled: SettledDependents): Promise<Recovered[]> {
  const changed = [...settled.changed]
  if (!settled.isUnfinished) return changed
  try {
    for (let step = 0; step < stepsAtOnce; step++) {
      const more = await endingStep(database)
      if (!more) break
      changed.push(...more)
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'bug') throw error
  }
  return changed
}

/** At most about `limit` dependents of tasks that ended, in steps. */
export async function finishEndings(database: SqlDatabase, limit: number): Promise<Recovered[]> {
  const all: Recovered[] = []
  while (all.length < limit) {
    const step = await endingStep(database, Math.min(endingLimits.dependents, limit - all.length))
    if (!step) break
    all.push(...step)
  }
  return all
}

/** One transaction's share; undefined when nothing is noted. */
async function endingStep(
  database: SqlDatabase,
  limit: number = endingLimits.dependents
): Promise<Recovered[] | undefined> {
  const noted = (await database.execute(findEndings)).rows
  if (noted.length === 0) return undefined
  const parents = noted.map((row) => text(row, 'task_id'))
  // Done twice it finds nothing more to do.
  const take = (some: readonly string[]): Promise<Recovered[] | undefined> =>
    database.transaction((runner) => takeStep(runner, some, limit), repeatable)
  // One alone is older than all that wait for it: it can wait for them.
  return (await take(parents)) ?? (await take(parents.slice(0, 1))) ?? []
}

/** Undefined when nothing was done: someone else has a dependent that may not be waited for while all these parents are locked. */
async function takeStep(
  runner: SqlRunner,
  parents: readonly string[],
  limit: number
): Promise<Recovered[] | undefined> {
  const locked = await lockAll(runner, parents)
  const ids = padded(parents.map(BigInt))
  // Under the parents' locks: another process may have gone on with them meanwhile.
  const rows = (await runner.execute(readEndings(ids.length), ids)).rows
  const doneUpTo = new Map(rows.map((row) => [text(row, 'task_id'), text(row, 'done_up_to')]))
  const current = parents.filter((taskId) => doneUpTo.has(taskId))
  // Retried meanwhile: its dependents wait for its next end.
  const ended = current
    .map((taskId) => ({ taskId, state: stateOf(locked.get(taskId) ?? { state: 'CANCELLED' }) }))
    .filter(({ state }) => isTerminal(state))
  const cascade = new Cascade(runner, greatestId(parents))
  const found = await readOpen(runner, idsOf(ended), limit + 1)
  if (found.length <= limit) {
    if (!(await cascade.end(ended, found))) return undefined
    await runOn(runner, dropEndings, current)
    return cascade.changed
  }
  // Too many for one transaction: a part of those of the first parent.
  const [first] = ended
  if (!first) return undefined
  const values = [BigInt(first.taskId), BigInt(doneUpTo.get(first.taskId) ?? '0'), limit]
  const part = (await runner.execute(openDependentsAfter, values)).rows.map(toOpen)
  if (!(await cascade.end([first], part))) return undefined
  const last = part.at(-1)
  if (last && part.length === limit) await runner.execute(moveEnding, [BigInt(last.taskId), BigInt(first.taskId)])
  else await runOn(runner, dropEndings, [first.taskId])
  return cascade.changed
}
