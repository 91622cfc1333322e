import { isTerminal, nextState, type OperatorAction, type TaskState } from '../../kernel/index.ts'
import type { ActionResult } from '../task-store.ts'
import { rowId, type QueueFile } from './queue-file.ts'

const findState = 'SELECT state FROM taskdeck_task WHERE id = :id'

const move = 'state = :to, state_since = :at, finished_at = :finishedAt'
const guard = 'WHERE id = :id AND state = :from'
const plain = `UPDATE taskdeck_task SET ${move} ${guard}`
/** Waiting begins now, unless the due time lies ahead. */
const startWaiting = `UPDATE taskdeck_task SET ${move}, run_at = MAX(run_at, :at) ${guard}`
/**
 * All attempts again, at once; the attempts' own rows keep the evidence. A deadline that passed is dropped, or the task would
 * fail again before anyone could take it.
 */
const startAgain = `
UPDATE taskdeck_task SET ${move}, run_at = :at, attempts_used = 0,
  deadline_at = CASE WHEN deadline_at <= :at THEN NULL ELSE deadline_at END,
  error_code = NULL, error_class = NULL, error_message = NULL
${guard}`

const statementOf: Readonly<Record<OperatorAction, string>> = {
  release: startWaiting,
  cancel: plain,
  pause: plain,
  resume: startWaiting,
  retry: startAgain
}

export async function act(file: QueueFile, taskId: string, action: OperatorAction): Promise<ActionResult> {
  const id = rowId(taskId)
  if (id === undefined) return { status: 'missing' }
  return file.write((session): ActionResult => {
    const from = session.get<{ state: TaskState }>(findState, { id })?.state
    if (from === undefined) return { status: 'missing' }
    const to = nextState(from, action)
    if (to === undefined) return { status: 'refused', state: from }
    const finishedAt = isTerminal(to) ? session.at : null
    session.run(statementOf[action], { id, from, to, at: session.at, finishedAt })
    return { status: 'done', from, to }
  })
}
