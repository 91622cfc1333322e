import {
  AppError,
  type Dependency,
  type NewTask,
  type SqlRunner,
  type SqlValue,
  type TaskState
} from '../../kernel/index.ts'
import { isTerminal } from '../../kernel/index.ts'
import { startAfter } from '../dependents.ts'
import { failDependents } from './endings.ts'
import { longestList } from './held-leases.ts'
import { compareIds, rowId, text, textOrNull } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'
import { lockAll } from './task-locks.ts'

/** Rows of one INSERT at most. */
const largestInsert = 1_024

const findTasks = perLength(
  (length) => `SELECT id FROM taskdeck_task FORCE INDEX (PRIMARY) WHERE id IN (${marks(length)})`
)

const markParents = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET has_dependents = 1 WHERE id IN (${marks(length)}) AND has_dependents = 0`
)

const addDependencies = perLength(
  (length) => `
INSERT INTO taskdeck_dependency (task_id, waits_for_id, after_failure, settled) VALUES ${marks(length, '(?, ?, ?, ?)')}`
)

const dependenciesOf = `
SELECT dependency.waits_for_id, dependency.after_failure, task.state
FROM taskdeck_dependency AS dependency FORCE INDEX (PRIMARY) LEFT JOIN taskdeck_task AS task ON task.id = dependency.waits_for_id
WHERE dependency.task_id = ? ORDER BY dependency.waits_for_id LIMIT 1000`

type Dependent = Pick<NewTask, 'after' | 'afterFailure'>

/** How a new task starts: waiting for `open` others, and failing at once when one of its own has ended badly. */
export interface Start {
  readonly open: number
  readonly fails: boolean
}

/** The tasks that new ones name, locked until the transaction ends: none of them ends in between. */
export type Parents = ReadonlyMap<string, TaskState>

const namesOf = (dependents: readonly Dependent[]): string[] =>
  [...new Set(dependents.flatMap(({ after }) => after))].sort(compareIds)

/** Which of the tasks that are named do not exist; a plain look before anything is written. */
export async function unknownParents(
  runner: SqlRunner,
  dependents: readonly Dependent[]
): Promise<ReadonlySet<string>> {
  const names = namesOf(dependents)
  const unknown = new Set(names)
  // Larger ones than the column holds cannot be bound.
  const possible = names.filter((name) => rowId(name) !== undefined)
  for (const chunk of chunksOf(possible, longestList)) {
    const ids = padded(chunk.map(BigInt))
    for (const row of (await runner.execute(findTasks(ids.length), ids)).rows) unknown.delete(text(row, 'id'))
  }
  return unknown
}

/** Locks them in the order of their ids and marks those that have not ended as waited for. Throws INVALID_INPUT when one is gone. */
export async function lockParents(runner: SqlRunner, dependents: readonly Dependent[]): Promise<Parents> {
  const names = namesOf(dependents)
  if (names.length === 0) return new Map()
  const rows = await lockAll(runner, names)
  const states = new Map([...rows].map(([id, row]) => [id, text(row, 'state') as TaskState]))
  for (const name of names) if (!states.has(name)) throw unknownTask(name)
  const open = names.filter((name) => !isTerminal(states.get(name) ?? 'FAILED'))
  for (const chunk of chunksOf(open, longestList)) {
    const ids = padded(chunk.map(BigInt))
    await runner.execute(markParents(ids.length), ids)
  }
  return states
}

export const startOf = ({ after, afterFailure }: Dependent, parents: Parents): Start =>
  startAfter(
    after.map((id) => parents.get(id) ?? 'FAILED'),
    afterFailure
  )

/** After the tasks are written; those that cannot start any more fail in the same transaction. Returns these. */
export async function writeDependencies(
  runner: SqlRunner,
  created: readonly (readonly [taskId: string, task: Dependent])[],
  parents: Parents
): Promise<string[]> {
  const rows = created.flatMap(([taskId, { after, afterFailure }]) =>
    after.map((id): SqlValue[] => {
      const hasEnded = isTerminal(parents.get(id) ?? 'FAILED')
      return [BigInt(taskId), BigInt(id), afterFailure, hasEnded ? 1 : 0]
    })
  )
  for (const chunk of powerChunks(rows, largestInsert))
    await runner.execute(addDependencies(chunk.length), chunk.flat())
  const late = created.filter(([, task]) => startOf(task, parents).fails).map(([taskId]) => taskId)
  await failDependents(runner, late.sort(compareIds))
  return late
}

/** Of one task: what it was submitted to run after, at most 1,000. */
export async function readDependencies(runner: SqlRunner, id: bigint): Promise<Dependency[]> {
  const { rows } = await runner.execute(dependenciesOf, [id])
  return rows.map((row) => ({
    taskId: text(row, 'waits_for_id'),
    state: textOrNull(row, 'state') as TaskState | null,
    afterFailure: text(row, 'after_failure') as Dependency['afterFailure']
  }))
}

export const unknownTask = (id: string): AppError =>
  new AppError('INVALID_INPUT', 'user', `There is no task ${id} to run after.`, { details: { taskId: id } })
