import type { DeathReason } from '../../kernel/index.ts'
import type { Session } from './queue-file.ts'

/** The first error of an attempt since the task's last death, which a replay or an operator's retry followed. */
const firstError = (column: string): string => `(
    SELECT attempt.${column} FROM taskdeck_attempt AS attempt
    WHERE attempt.task_id = task.id AND attempt.error_code IS NOT NULL AND attempt.attempt > COALESCE((
      SELECT MAX(earlier.attempt) FROM taskdeck_dead_letter AS earlier WHERE earlier.task_id = task.id), 0)
    ORDER BY attempt.attempt LIMIT 1)`

/** Attempts: by what ended the last one. No retry mends a final error, the others had no attempt left. */
const writeLetter = `
INSERT INTO taskdeck_dead_letter (task_id, attempt, type, owner, title, died_at, reason, first_error_code, first_error_message,
  last_error_code, last_error_message)
SELECT task.id, task.attempt, task.type, task.owner, task.title, task.state_since,
  COALESCE(:reason, CASE WHEN task.error_class = 'final' THEN 'FINAL' ELSE 'EXHAUSTED' END),
  COALESCE(${firstError('error_code')}, task.error_code), COALESCE(${firstError('error_message')}, task.error_message),
  task.error_code, task.error_message
FROM taskdeck_task AS task WHERE task.id = :id AND task.state = 'FAILED'`

/** For a task that has just become FAILED in this transaction, its attempt's row included. */
export function writeDeadLetter(
  session: Session,
  id: bigint,
  cause: 'ATTEMPT' | Exclude<DeathReason, 'EXHAUSTED' | 'FINAL'>
): void {
  session.run(writeLetter, { id, reason: cause === 'ATTEMPT' ? null : cause })
}
