import { isTerminal, nextState, type OperatorAction, type TaskState } from '../../kernel/index.ts'
import { withDependents } from '../dependents.ts'
import { storableActor } from '../stored-text.ts'
import type { ActionResult, OperatorCall, Recovered } from '../task-store.ts'
import { finishSome, noteEnding, settleDependents } from './endings.ts'
import { rowId, type QueueFile, type Session } from './queue-file.ts'

const findTask = 'SELECT state, has_dependents FROM taskdeck_task WHERE id = :id'

const move = 'state = :to, state_since = :at, finished_at = :finishedAt'
const guard = 'WHERE id = :id AND state = :from'
const plain = `UPDATE taskdeck_task SET ${move} ${guard}`
/** Waiting begins now, unless the due time lies ahead. What it still waited for does not matter any more. */
const startWaiting = `UPDATE taskdeck_task SET ${move}, run_at = MAX(run_at, :at), held = 0, waits_for = 0 ${guard}`
/**
 * All attempts again, at once; the attempts' own rows keep the evidence. A deadline that passed is dropped, or the task would
 * fail again before anyone could take it.
 */
const startAgain = `
UPDATE taskdeck_task SET ${move}, run_at = :at, attempts_used = 0, held = 0, waits_for = 0,
  deadline_at = CASE WHEN deadline_at <= :at THEN NULL ELSE deadline_at END,
  error_code = NULL, error_class = NULL, error_message = NULL
${guard}`
const closeLetters = `
UPDATE taskdeck_dead_letter SET resolution = 'REPLAYED', resolved_at = :at, resolved_by = :by
WHERE task_id = :id AND resolution = 'OPEN'`

const statementOf: Readonly<Record<OperatorAction, string>> = {
  release: startWaiting,
  cancel: plain,
  pause: plain,
  resume: startWaiting,
  retry: startAgain
}

export async function act(file: QueueFile, taskId: string, call: OperatorCall): Promise<ActionResult> {
  const { action } = call
  const by = storableActor(call.by)
  const id = rowId(taskId)
  if (id === undefined) return { status: 'missing' }
  let hasDependents = false
  let dependents: Recovered[] = []
  const result = await file.write((session): ActionResult => {
    const task = session.get<{ state: TaskState; has_dependents: number }>(findTask, { id })
    if (!task) return { status: 'missing' }
    const from = task.state
    const to = nextState(from, action)
    if (to === undefined) return { status: 'refused', state: from }
    change(session, { id, from, to }, { action, by })
    hasDependents = isTerminal(to) && task.has_dependents === 1
    if (hasDependents) {
      noteEnding(session, id)
      dependents = settleDependents(session)
    }
    return { status: 'done', from, to }
  })
  if (result.status !== 'done' || !hasDependents) return result
  return { ...result, ...withDependents([...dependents, ...(await finishSome(file))]) }
}

interface Change {
  readonly id: bigint
  readonly from: TaskState
  readonly to: TaskState
}

/** Whether the task was in that state. */
function change(session: Session, { id, from, to }: Change, { action, by }: OperatorCall): boolean {
  const { at } = session
  const finishedAt = isTerminal(to) ? at : null
  const { changes } = session.run(statementOf[action], { id, from, to, at, finishedAt })
  if (action === 'retry' && changes === 1) session.run(closeLetters, { id, at, by })
  return changes === 1
}

/** An operator's retry of a task that failed; whether it had. */
export function retryFailed(session: Session, id: bigint, by: string): boolean {
  const from = 'FAILED'
  const to = nextState(from, 'retry')
  return to !== undefined && change(session, { id, from, to }, { action: 'retry', by })
}
