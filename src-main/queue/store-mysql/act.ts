import { nextState, type OperatorAction, type SqlDatabase, type SqlRunner, type TaskState } from '../../kernel/index.ts'
import type { ActionResult } from '../task-store.ts'
import { rowId, text } from './row-values.ts'
import { finished } from './task-rows.ts'

const lockState = 'SELECT state FROM taskdeck_task WHERE id = ? FOR UPDATE'
const readState = 'SELECT state FROM taskdeck_task WHERE id = ?'

const move = 'state = ?, state_since = NOW(6), finished_at = CASE WHEN ? = 1 THEN NOW(6) END'
const guard = 'WHERE id = ? AND state = ?'
const plain = `UPDATE taskdeck_task SET ${move} ${guard}`
/** Waiting begins now, unless the due time lies ahead. */
const startWaiting = `UPDATE taskdeck_task SET ${move}, run_at = GREATEST(run_at, NOW(6)) ${guard}`
/**
 * All attempts again, at once; the attempts' own rows keep the evidence. A deadline that passed is dropped, or the task would
 * fail again before anyone could take it.
 */
const startAgain = `
UPDATE taskdeck_task SET ${move}, run_at = NOW(6), attempts_used = 0,
  deadline_at = CASE WHEN deadline_at <= NOW(6) THEN NULL ELSE deadline_at END,
  error_code = NULL, error_class = NULL, error_message = NULL
${guard}`

const statementOf: Readonly<Record<OperatorAction, string>> = {
  release: startWaiting,
  cancel: plain,
  pause: plain,
  resume: startWaiting,
  retry: startAgain
}

export async function act(database: SqlDatabase, taskId: string, action: OperatorAction): Promise<ActionResult> {
  const id = rowId(taskId)
  if (id === undefined) return { status: 'missing' }
  let result: ActionResult = { status: 'missing' }
  const work = async (runner: SqlRunner): Promise<ActionResult> => {
    const [row] = (await runner.execute(lockState, [id])).rows
    result = row ? await changeState(runner, id, text(row, 'state') as TaskState, action) : { status: 'missing' }
    return result
  }
  // The row in the state that the change leads to: it was made (by us, or by someone who wanted the same).
  const readBack = async (runner: SqlRunner): Promise<ActionResult | undefined> => {
    const [row] = (await runner.execute(readState, [id])).rows
    return result.status !== 'done' || (row && text(row, 'state') === result.to) ? result : undefined
  }
  return database.transaction(work, { readBack })
}

async function changeState(
  runner: SqlRunner,
  id: bigint,
  from: TaskState,
  action: OperatorAction
): Promise<ActionResult> {
  const to = nextState(from, action)
  if (to === undefined) return { status: 'refused', state: from }
  await runner.execute(statementOf[action], [to, finished(to), id, from])
  return { status: 'done', from, to }
}
