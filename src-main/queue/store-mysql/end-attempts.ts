import {
  AppError,
  isTerminal,
  type AttemptError,
  type AttemptOutcome,
  type Progress,
  type SqlRunner,
  type TaskState
} from '../../kernel/index.ts'
import { changesError } from '../retry.ts'
import { writeDeadLetters } from './dead-letters.ts'
import { endPlainSuccesses, mostPlainResult, type PlainSuccess } from './end-successes.ts'
import { settleDependents, type SettledDependents } from './endings.ts'
import { withinRetryBudgets, type RetryTerms } from './retry-delays.ts'
import { microseconds } from './row-values.ts'
import { leased } from './statement-text.ts'
import { finished } from './task-rows.ts'

/** The end of an attempt whose task's row is locked and whose fence was found to hold. */
export interface AttemptEnd {
  readonly taskId: string
  /** null only when the leased row itself, which the engine would never write, has none. */
  readonly workerId: string | null
  readonly attempt: number
  readonly outcome: AttemptOutcome
  readonly state: TaskState
  /** In RETRY_WAIT, from now; else null, and the due time stays. */
  readonly delayMs: number | null
  readonly error: AttemptError | null
  readonly result: string | null
  /** null keeps what was saved while it ran. */
  readonly progress: Progress | null
  readonly hasDependents: boolean
}

/** Rows and bytes of one statement: the server refuses packets over 16 MB by default. */
const mostRows = 256
const mostBytes = 4_194_304

/**
 * The batch goes as one JSON text, so that any number of rows with any of their columns set is one prepared statement. It is read
 * first and the tasks are met by primary key; measured as fast as UPDATE … IN (list) with constants.
 */
const endedRows = `JSON_TABLE(?, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id', attempt INT UNSIGNED PATH '$.attempt', worker VARCHAR(100) PATH '$.worker',
  outcome VARCHAR(16) PATH '$.outcome', state VARCHAR(16) PATH '$.state', finished INT PATH '$.finished',
  uncounted INT PATH '$.uncounted', delay_us BIGINT PATH '$.delayUs', result MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$.result', error_change INT PATH '$.errorChange',
  error_code VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.errorCode', error_class VARCHAR(16) PATH '$.errorClass',
  error_message TEXT CHARACTER SET utf8mb4 PATH '$.errorMessage', total BIGINT UNSIGNED PATH '$.total',
  processed BIGINT UNSIGNED PATH '$.processed', succeeded BIGINT UNSIGNED PATH '$.succeeded',
  failed BIGINT UNSIGNED PATH '$.failed', skipped BIGINT UNSIGNED PATH '$.skipped'
)) AS ended STRAIGHT_JOIN taskdeck_task AS task FORCE INDEX (PRIMARY) ON task.id = ended.id`

const errorColumn = (name: string): string => `task.error_${name} = CASE WHEN ended.error_change = 1
    THEN ended.error_${name} ELSE task.error_${name} END`
const progressColumn = (name: string): string => `task.progress_${name} = CASE WHEN ended.processed IS NULL
    THEN task.progress_${name} ELSE ended.${name} END`

/**
 * No column is read after another one that it depends on: a joined UPDATE promises no order of assignments. The comparison of bytes
 * needs no common collation.
 */
export const endTasks = `
UPDATE ${endedRows}
SET task.state = ended.state, task.state_since = NOW(6), task.lease_until = NULL,
  task.finished_at = CASE WHEN ended.finished = 1 THEN NOW(6) END,
  task.attempts_used = GREATEST(task.attempts_used, ended.uncounted) - ended.uncounted,
  task.run_at = CASE WHEN ended.delay_us IS NULL THEN task.run_at ELSE NOW(6) + INTERVAL ended.delay_us MICROSECOND END,
  task.result = ended.result,
  ${['code', 'class', 'message'].map(errorColumn).join(',\n  ')},
  ${['total', 'processed', 'succeeded', 'failed', 'skipped'].map(progressColumn).join(',\n  ')}
WHERE task.attempt = ended.attempt AND CAST(task.worker_id AS BINARY) <=> CAST(ended.worker AS BINARY)
  AND task.state IN (${leased})`

/**
 * After `endTasks`, in its transaction: the attempt ended when the task's state changed. A row that is there already was not written by
 * us (the fence ends an attempt once): it stays, and does not keep the whole batch from ending.
 */
export const recordAttempts = `
INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome, error_code,
  error_class, error_message, progress_total, progress_processed, progress_succeeded, progress_failed, progress_skipped)
SELECT task.id, task.attempt, task.type, COALESCE(task.worker_id, ''), COALESCE(task.due_at, task.run_at),
  COALESCE(task.started_at, task.state_since), task.state_since, ended.outcome, ended.error_code, ended.error_class,
  ended.error_message, task.progress_total, task.progress_processed, task.progress_succeeded, task.progress_failed,
  task.progress_skipped
FROM ${endedRows}
ON DUPLICATE KEY UPDATE taskdeck_attempt.task_id = taskdeck_attempt.task_id`

/**
 * Writes the tasks' next states, the attempts' rows and dead letters, and lets those go on that waited for the tasks. What it could not see
 * to is left to `finishSome`.
 */
export async function endAttempts(
  runner: SqlRunner,
  ends: readonly AttemptEnd[],
  terms: RetryTerms
): Promise<SettledDependents> {
  const retries = ends.flatMap(({ delayMs, ...end }) => (delayMs === null ? [] : [{ ...end, delayMs }]))
  const { plain, others } = withoutPlain(ends.filter(({ delayMs }) => delayMs === null))
  await endPlainSuccesses(runner, plain)
  await writeEnds(runner, others)
  const failed = ends.filter(({ state }) => state === 'FAILED').map(({ taskId }) => taskId)
  await writeDeadLetters(runner, failed, 'ATTEMPT')
  const waitedFor = ends.filter(({ state, hasDependents }) => hasDependents && isTerminal(state))
  const dependents = await settleDependents(runner, waitedFor, terms.typeOf.keys())
  // Their gates are locked after all tasks: who holds one never waits for a task.
  await writeEnds(runner, await withinRetryBudgets(runner, retries, terms))
  return dependents
}

async function writeEnds(runner: SqlRunner, ends: readonly AttemptEnd[]): Promise<void> {
  for (const { json, rows } of jsonBatches(ends.map(toJson))) {
    const { affectedRows } = await runner.execute(endTasks, [json])
    if (affectedRows !== rows) throw new AppError('BUG', 'bug', `${rows} locked leases, ${affectedRows} ended`)
    await runner.execute(recordAttempts, [json])
  }
}

/** What a statement of its own ends faster. */
function withoutPlain(ends: readonly AttemptEnd[]): { plain: PlainSuccess[]; others: AttemptEnd[] } {
  const plain: PlainSuccess[] = []
  const others: AttemptEnd[] = []
  for (const end of ends) {
    const { taskId, workerId, attempt, outcome, state, progress, result } = end
    const isPlain = outcome === 'SUCCESS' && state === 'SUCCESS' && progress === null
    if (isPlain && workerId !== null && (result?.length ?? 0) <= mostPlainResult)
      plain.push({ taskId, workerId, attempt, result })
    else others.push(end)
  }
  return { plain, others }
}

/** JSON arrays within the limits of one statement. */
export function jsonBatches(objects: readonly object[]): { readonly json: string; readonly rows: number }[] {
  const batches: { json: string; rows: number }[] = []
  let texts: string[] = []
  let bytes = 0
  const flush = (): void => {
    if (texts.length > 0) batches.push({ json: `[${texts.join(',')}]`, rows: texts.length })
    texts = []
    bytes = 0
  }
  for (const object of objects) {
    const text = JSON.stringify(object)
    // At most three bytes of UTF-8 a UTF-16 unit: an upper bound without encoding it.
    if (texts.length === mostRows || bytes + text.length * 3 > mostBytes) flush()
    texts.push(text)
    bytes += text.length * 3
  }
  flush()
  return batches
}

function toJson(end: AttemptEnd): object {
  return {
    id: end.taskId,
    attempt: end.attempt,
    worker: end.workerId,
    outcome: end.outcome,
    state: end.state,
    finished: finished(end.state),
    uncounted: end.outcome === 'HANDED_BACK' ? 1 : 0,
    delayUs: end.delayMs === null ? null : microseconds(end.delayMs),
    result: end.result,
    errorChange: changesError(end) ? 1 : 0,
    errorCode: end.error?.code ?? null,
    errorClass: end.error?.class ?? null,
    errorMessage: end.error?.message ?? null,
    ...end.progress
  }
}
