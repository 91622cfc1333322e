import {
  AppError,
  isTerminal,
  type AfterFailure,
  type Dependency,
  type NewTask,
  type TaskState
} from '../../kernel/index.ts'
import { startAfter } from '../dependents.ts'
import { failDependent } from './endings.ts'
import { rowId, type Session } from './queue-file.ts'

const findState = 'SELECT state FROM taskdeck_task WHERE id = :id'
const markParent = 'UPDATE taskdeck_task SET has_dependents = 1 WHERE id = :id AND has_dependents = 0'
const addDependency = `
INSERT INTO taskdeck_dependency (task_id, waits_for_id, after_failure, settled) VALUES (:id, :parent, :afterFailure, :settled)`
const dependenciesOf = `
SELECT CAST(dependency.waits_for_id AS TEXT) AS id, dependency.after_failure, task.state
FROM taskdeck_dependency AS dependency LEFT JOIN taskdeck_task AS task ON task.id = dependency.waits_for_id
WHERE dependency.task_id = :id ORDER BY dependency.waits_for_id LIMIT 1000`

export type Parents = ReadonlyMap<string, TaskState>

/** The states of the tasks that these name, without those that do not exist. */
export function readParents(session: Session, tasks: readonly Pick<NewTask, 'after'>[]): Parents {
  const states = new Map<string, TaskState>()
  for (const name of new Set(tasks.flatMap(({ after }) => after))) {
    const id = rowId(name)
    const row = id === undefined ? undefined : session.get<{ state: TaskState }>(findState, { id })
    if (row) states.set(name, row.state)
  }
  return states
}

/** Throws INVALID_INPUT when the task names one that does not exist. */
export function requireParents({ after }: Pick<NewTask, 'after'>, parents: Parents): void {
  const unknown = after.find((id) => !parents.has(id))
  if (unknown === undefined) return
  throw new AppError('INVALID_INPUT', 'user', `There is no task ${unknown} to run after.`, {
    details: { taskId: unknown }
  })
}

export const startOf = ({ after, afterFailure }: NewTask, parents: Parents): ReturnType<typeof startAfter> =>
  startAfter(
    [...new Set(after)].map((id) => parents.get(id) ?? 'FAILED'),
    afterFailure
  )

/** After the task is written; one that cannot start any more fails in the same transaction. Returns whether it does. */
export function writeDependencies(session: Session, id: bigint, task: NewTask, parents: Parents): boolean {
  for (const name of new Set(task.after)) {
    const parent = BigInt(name)
    const hasEnded = isTerminal(parents.get(name) ?? 'FAILED')
    session.run(addDependency, { id, parent, afterFailure: task.afterFailure, settled: hasEnded ? 1 : 0 })
    if (!hasEnded) session.run(markParent, { id: parent })
  }
  const { fails } = startOf(task, parents)
  if (fails) failDependent(session, id, false)
  return fails
}

/** Of one task: what it was submitted to run after, at most 1,000. */
export function readDependencies(session: Session, id: bigint): Dependency[] {
  return session
    .all<{ id: string; after_failure: AfterFailure; state: TaskState | null }>(dependenciesOf, { id })
    .map((row) => ({ taskId: row.id, state: row.state, afterFailure: row.after_failure }))
}
