import { AppError, type SqlRunner, type SqlValue } from '../../kernel/index.ts'
import { storableResult } from '../stored-text.ts'
import type { Settlement } from '../task-store.ts'
import { isWorkerId } from '../worker-values.ts'
import { longestList } from './held-leases.ts'
import { compareIds, largestCount, rowId } from './row-values.ts'
import { chunksOf, leased, marks, padded, perLength } from './statement-text.ts'

/** Characters: a full list of them stays far below the packets that servers take. */
export const mostPlainResult = 4_096

/** A success that says nothing but its result. */
export interface PlainSuccess {
  readonly taskId: string
  readonly workerId: string
  readonly attempt: number
  readonly result: string | null
}

/**
 * As `endTasks` and `recordAttempts`, for what nearly all attempts end with. A JSON_TABLE looks each of its columns up in the text for
 * each row: with three instead of eighteen, in one statement instead of two, a batch of 50 ends costs the server 64 us of CPU a task instead of 118.
 */
export const endSuccesses = `
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$[0]', attempt INT UNSIGNED PATH '$[1]', result MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[2]'
)) AS ended STRAIGHT_JOIN taskdeck_task AS task FORCE INDEX (PRIMARY) ON task.id = ended.id
SET task.state = 'SUCCESS', task.state_since = NOW(6), task.lease_until = NULL, task.finished_at = NOW(6), task.result = ended.result,
  task.error_code = NULL, task.error_class = NULL, task.error_message = NULL
WHERE task.attempt = ended.attempt AND task.worker_id = ? AND task.state IN (${leased}) AND task.has_dependents <= ?`

/**
 * The same for tasks at the same attempt, as nearly all are. A JSON_TABLE is a temporary table: some 0.5 ms of the server's time for each statement,
 * however few tasks it ends. FIELD finds a task's result among the others.
 */
export const endEqualSuccesses = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'SUCCESS', state_since = NOW(6), lease_until = NULL, finished_at = NOW(6),
  result = ELT(FIELD(id, ${marks(length)}), ${marks(length)}), error_code = NULL, error_class = NULL, error_message = NULL
WHERE id IN (${marks(length)}) AND attempt = ? AND worker_id = ? AND state IN (${leased}) AND has_dependents <= ?`
)

const recordSuccesses = perLength(
  (length) => `
INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome,
  progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped)
SELECT id, attempt, type, worker_id, COALESCE(due_at, run_at), COALESCE(started_at, state_since), state_since, 'SUCCESS',
  progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped
FROM taskdeck_task FORCE INDEX (PRIMARY) WHERE id IN (${marks(length)})
ON DUPLICATE KEY UPDATE taskdeck_attempt.task_id = taskdeck_attempt.task_id`
)

/** Of tasks whose fences were found to hold, in the transaction that holds their locks. */
export async function endPlainSuccesses(runner: SqlRunner, ends: readonly PlainSuccess[]): Promise<void> {
  for (const workerId of new Set(ends.map((end) => end.workerId))) {
    const some = ends.filter((end) => end.workerId === workerId)
    const ended = await endAll(runner, workerId, some, { withDependents: true })
    if (ended !== some.length) throw new AppError('BUG', 'bug', `${some.length} locked leases, ${ended} ended`)
  }
}

/** Returns how many it ended; their order is that of the locks. Stops where some of a statement were not ended. */
async function endAll(
  runner: SqlRunner,
  workerId: string,
  ends: readonly PlainSuccess[],
  { withDependents }: { readonly withDependents: boolean }
): Promise<number> {
  let ended = 0
  for (const some of chunksOf(ends, longestList)) {
    const ids = padded(some.map(({ taskId }) => BigInt(taskId)))
    const written = await endSome(runner, some, { ids, guard: [workerId, withDependents ? 1 : 0] })
    ended += written
    if (written !== some.length) return ended
    await runner.execute(recordSuccesses(ids.length), ids)
  }
  return ended
}

async function endSome(
  runner: SqlRunner,
  ends: readonly PlainSuccess[],
  { ids, guard }: { readonly ids: readonly bigint[]; readonly guard: readonly SqlValue[] }
): Promise<number> {
  const attempts = new Set(ends.map(({ attempt }) => attempt))
  if (attempts.size === 1) {
    const results = padded(ends.map(({ result }) => result))
    const values = [...ids, ...results, ...ids, ...attempts, ...guard]
    return (await runner.execute(endEqualSuccesses(ids.length), values)).affectedRows
  }
  const json = JSON.stringify(ends.map(({ taskId, attempt, result }) => [taskId, attempt, result]))
  return (await runner.execute(endSuccesses, [json, ...guard])).affectedRows
}

/** When there is nothing else: of one worker, each task once. In the order of locks. */
export function onlyPlainSuccesses(settlements: readonly Settlement[]): PlainSuccess[] | undefined {
  const [first] = settlements
  const plain = settlements.flatMap((settlement) => toPlain(settlement) ?? [])
  const isOne = plain.length === settlements.length && plain.every(({ workerId }) => workerId === first?.fence.workerId)
  if (!isOne || new Set(plain.map(({ taskId }) => taskId)).size !== plain.length) return undefined
  return plain.sort((a, b) => compareIds(a.taskId, b.taskId))
}

function toPlain(settlement: Settlement): PlainSuccess | undefined {
  if (settlement.outcome !== 'SUCCESS' || settlement.progress || (settlement.artifacts ?? []).length > 0)
    return undefined
  const { taskId, workerId, attempt } = settlement.fence
  const result = storableResult(settlement.result)
  // What a JSON_TABLE would make fit its column is left to the look at the tasks.
  const isCount = Number.isInteger(attempt) && attempt >= 0 && attempt <= largestCount
  const isFence = rowId(taskId) !== undefined && isWorkerId(workerId) && isCount
  if (!isFence || (result?.length ?? 0) > mostPlainResult) return undefined
  return { taskId, workerId, attempt, result }
}

/**
 * Without a look at the tasks first: the fence and that nothing waits for them is asked by the write itself. False, and nothing may be committed,
 * when that does not hold for each of them.
 */
export async function endUnseen(runner: SqlRunner, ends: readonly PlainSuccess[]): Promise<boolean> {
  const [first] = ends
  return first === undefined || (await endAll(runner, first.workerId, ends, { withDependents: false })) === ends.length
}
