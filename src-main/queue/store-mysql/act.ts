import {
  isTerminal,
  nextState,
  type OperatorAction,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type SqlValue,
  type TaskState
} from '../../kernel/index.ts'
import { withDependents } from '../dependents.ts'
import { storableActor } from '../stored-text.ts'
import type { ActionResult, OperatorCall } from '../task-store.ts'
import { closeLetters } from './dead-letters.ts'
import { settleDependents, type EndedTask, type SettledDependents } from './endings.ts'
import { finishSome } from './noted-endings.ts'
import { countAgain } from './quotas.ts'
import { count, rowId, text } from './row-values.ts'
import { marks, padded, perLength } from './statement-text.ts'
import { finished } from './task-rows.ts'

const columns = 'state, CAST(state_since AS CHAR) AS since, has_dependents'
const lockState = `SELECT ${columns} FROM taskdeck_task WHERE id = ? FOR UPDATE`
const readState = `SELECT ${columns} FROM taskdeck_task WHERE id = ?`
const readOwner = 'SELECT type, owner FROM taskdeck_task WHERE id = ?'

const move = 'state = ?, state_since = NOW(6), finished_at = CASE WHEN ? = 1 THEN NOW(6) END'
const guard = 'WHERE id = ? AND state = ?'
const plain = `UPDATE taskdeck_task SET ${move} ${guard}`
/** Waiting begins now, unless the due time lies ahead. What it still waited for does not matter any more. */
const startWaiting = `
UPDATE taskdeck_task SET ${move}, run_at = GREATEST(run_at, NOW(6)), held = 0, waits_for = 0 ${guard}`
/**
 * All attempts again, at once; the attempts' own rows keep the evidence. A deadline that passed is dropped, or the task would
 * fail again before anyone could take it.
 */
const anew = `run_at = NOW(6), attempts_used = 0, held = 0, waits_for = 0,
  deadline_at = CASE WHEN deadline_at <= NOW(6) THEN NULL ELSE deadline_at END,
  error_code = NULL, error_class = NULL, error_message = NULL`
const startAgain = `UPDATE taskdeck_task SET ${move}, ${anew} ${guard}`

/** The same for many, from FAILED: a replay. */
export const replayTasks = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET state = 'QUEUED', state_since = NOW(6), finished_at = NULL, ${anew}
WHERE id IN (${marks(length)}) AND state = 'FAILED'`
)

const statementOf: Readonly<Record<OperatorAction, string>> = {
  release: startWaiting,
  cancel: plain,
  pause: plain,
  resume: startWaiting,
  retry: startAgain
}

export async function act(database: SqlDatabase, taskId: string, call: OperatorCall): Promise<ActionResult> {
  const { action } = call
  const by = storableActor(call.by)
  const id = rowId(taskId)
  if (id === undefined) return { status: 'missing' }
  let result: ActionResult = { status: 'missing' }
  let before: SqlRow | undefined
  let dependents: SettledDependents = { changed: [], isUnfinished: false }
  const work = async (runner: SqlRunner): Promise<ActionResult> => {
    // Gates come before tasks, as in a submission.
    if (action === 'retry') await countAgainFor(runner, id)
    const [row] = (await runner.execute(lockState, [id])).rows
    before = row
    const now: ActionResult = row
      ? await changeState(runner, { id, from: text(row, 'state') as TaskState }, { action, by })
      : { status: 'missing' }
    result = now
    dependents = await settleDependents(runner, endedBy(id, row, now), [id.toString()])
    return result
  }
  // A row that is still as it was locked was not changed. Otherwise it was, and may have gone on: a worker can be quick.
  const readBack = async (runner: SqlRunner): Promise<ActionResult | undefined> => {
    const [row] = (await runner.execute(readState, [id])).rows
    return result.status === 'done' && row && isUnchanged(row, before) ? undefined : result
  }
  const done = await database.transaction(work, { readBack })
  if (done.status !== 'done') return done
  return { ...done, ...withDependents(await finishSome(database, dependents)) }
}

const isUnchanged = (row: SqlRow, before: SqlRow | undefined): boolean =>
  before !== undefined && ['state', 'since'].every((name) => text(row, name) === text(before, name))

/** The task, when its end is one that others wait for. */
function endedBy(id: bigint, row: SqlRow | undefined, result: ActionResult): EndedTask[] {
  if (!row || result.status !== 'done' || !isTerminal(result.to) || count(row, 'has_dependents') !== 1) return []
  return [{ taskId: id.toString(), state: result.to }]
}

async function countAgainFor(runner: SqlRunner, id: SqlValue): Promise<void> {
  const [row] = (await runner.execute(readOwner, [id])).rows
  if (row) await countAgain(runner, [{ type: text(row, 'type'), owner: text(row, 'owner') }])
}

async function changeState(
  runner: SqlRunner,
  { id, from }: { readonly id: bigint; readonly from: TaskState },
  { action, by }: OperatorCall
): Promise<ActionResult> {
  const to = nextState(from, action)
  if (to === undefined) return { status: 'refused', state: from }
  await runner.execute(statementOf[action], [to, finished(to), id, from])
  if (action === 'retry') {
    const ids = padded([id])
    await runner.execute(closeLetters(ids.length), [by, ...ids])
  }
  return { status: 'done', from, to }
}
