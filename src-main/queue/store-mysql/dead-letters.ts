import type { DeathReason, SqlRunner } from '../../kernel/index.ts'
import { longestList } from './held-leases.ts'
import { chunksOf, marks, padded, perLength } from './statement-text.ts'

/** The first error of an attempt since the task's last death, which a replay or an operator's retry followed. */
const firstError = (column: string): string => `(
    SELECT attempt.${column} FROM taskdeck_attempt AS attempt FORCE INDEX (PRIMARY)
    WHERE attempt.task_id = task.id AND attempt.error_code IS NOT NULL AND attempt.attempt > COALESCE((
      SELECT MAX(earlier.attempt) FROM taskdeck_dead_letter AS earlier FORCE INDEX (taskdeck_dead_letter_task)
      WHERE earlier.task_id = task.id), 0)
    ORDER BY attempt.attempt LIMIT 1)`

const writeLetters = (reason: string) =>
  perLength(
    (length) => `
INSERT INTO taskdeck_dead_letter (task_id, attempt, type, owner, title, died_at, reason, first_error_code, first_error_message,
  last_error_code, last_error_message)
SELECT task.id, task.attempt, task.type, task.owner, task.title, task.state_since, ${reason},
  COALESCE(${firstError('error_code')}, task.error_code), COALESCE(${firstError('error_message')}, task.error_message),
  task.error_code, task.error_message
FROM taskdeck_task AS task FORCE INDEX (PRIMARY) WHERE task.id IN (${marks(length)}) AND task.state = 'FAILED'`
  )

/** By what ended it: no retry mends a final error, the others had no attempt left. */
export const lettersOfAttempts = writeLetters("CASE WHEN task.error_class = 'final' THEN 'FINAL' ELSE 'EXHAUSTED' END")
const lettersOf: Readonly<Record<'DEADLINE' | 'DEPENDENCY', (length: number) => string>> = {
  DEADLINE: writeLetters("'DEADLINE'"),
  DEPENDENCY: writeLetters("'DEPENDENCY'")
}

/** One letter a task that has just become FAILED in this transaction, its attempt's row included. */
export async function writeDeadLetters(
  runner: SqlRunner,
  taskIds: readonly string[],
  cause: 'ATTEMPT' | Exclude<DeathReason, 'EXHAUSTED' | 'FINAL'>
): Promise<void> {
  const statement = cause === 'ATTEMPT' ? lettersOfAttempts : lettersOf[cause]
  for (const chunk of chunksOf(taskIds, longestList)) {
    const ids = padded(chunk.map(BigInt))
    await runner.execute(statement(ids.length), ids)
  }
}

/** After an operator made tasks wait again. Who that was comes before the ids. */
export const closeLetters = perLength(
  (length) => `
UPDATE taskdeck_dead_letter FORCE INDEX (taskdeck_dead_letter_task) SET resolution = 'REPLAYED', resolved_at = NOW(6),
  resolved_by = ?
WHERE task_id IN (${marks(length)}) AND resolution = 'OPEN'`
)
