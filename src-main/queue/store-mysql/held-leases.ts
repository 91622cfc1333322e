import { leasedStates, type Fence, type SqlRow, type SqlRunner, type TaskState } from '../../kernel/index.ts'
import { count, rowId, text, textOrNull } from './row-values.ts'
import { chunksOf, marks, padded, perLength } from './statement-text.ts'

/** Rows that one statement names at most. */
export const longestList = 256

export interface LockedTask {
  readonly state: TaskState
  readonly workerId: string | null
  readonly attempt: number
  readonly type: string
  readonly hasDependents: boolean
}

/** FORCE INDEX: the server otherwise may choose the claim index, walk other tasks and wait for their locks. */
const lockTasks = perLength(
  (length) => `
SELECT id, type, state, worker_id, attempt, has_dependents FROM taskdeck_task FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) ORDER BY id FOR UPDATE`
)

/** Locks the tasks of the fences by primary key in the order of their ids, as every writer does. */
export async function lockTasksOf(runner: SqlRunner, fences: readonly Fence[]): Promise<Map<string, LockedTask>> {
  const ids = [...new Set(fences.map((fence) => rowId(fence.taskId)).filter((id) => id !== undefined))]
  ids.sort((a, b) => (a < b ? -1 : 1))
  const locked = new Map<string, LockedTask>()
  for (const chunk of chunksOf(ids, longestList)) {
    const list = padded(chunk)
    const { rows } = await runner.execute(lockTasks(list.length), list)
    for (const row of rows) locked.set(text(row, 'id'), toLocked(row))
  }
  return locked
}

const toLocked = (row: SqlRow): LockedTask => ({
  state: text(row, 'state') as TaskState,
  workerId: textOrNull(row, 'worker_id'),
  attempt: count(row, 'attempt'),
  type: text(row, 'type'),
  hasDependents: count(row, 'has_dependents') === 1
})

/** Task, worker, attempt and a leased state: all four, or the lease is lost. */
export function holds(task: LockedTask | undefined, fence: Fence): task is LockedTask {
  return (
    task !== undefined &&
    task.workerId === fence.workerId &&
    task.attempt === fence.attempt &&
    (leasedStates as readonly TaskState[]).includes(task.state)
  )
}
