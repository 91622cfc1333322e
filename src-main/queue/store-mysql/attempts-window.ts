import type { AttemptOutcome, SqlDatabase, SqlRow, TaskState } from '../../kernel/index.ts'
import {
  boundedWindow,
  recentLimits,
  type EndedAttempt,
  type RecentAttempts,
  type RecentWindow,
  type RunningAttempt
} from '../recent-attempts.ts'
import { count, countOrNull, microseconds, text, textOrNull, time, timeOrNull } from './row-values.ts'

/** A look that is slower is not worth it. MariaDB reads the hint as a comment: there the session's own limit holds. */
const hint = '/*+ MAX_EXECUTION_TIME(3000) */'

const ofType = (one: boolean): string => (one ? 'AND type = ?' : '')

/** Values: the window in microseconds, the type when it is one's, the limit. */
export const attemptsEnded = (oneType: boolean): string => `
SELECT ${hint} task_id, attempt, type, worker_id, started_at, ended_at, outcome, error_code
FROM taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)
WHERE ended_at > NOW(6) - INTERVAL ? MICROSECOND ${ofType(oneType)} ORDER BY ended_at DESC LIMIT ?`

export const attemptsRunning = (oneType: boolean): string => `
SELECT ${hint} id, attempt, type, worker_id, started_at, lease_until, lease_ms, state, state_since
FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
WHERE lease_until IS NOT NULL ${ofType(oneType)} ORDER BY lease_until LIMIT ${recentLimits.running + 1}`

/** What runs is read first: an attempt that ends in between is then told twice, and never lost. */
export async function recentAttempts(database: SqlDatabase, window: RecentWindow): Promise<RecentAttempts> {
  const { fromMsAgo, limit, type } = boundedWindow(window)
  const types = type === null ? [] : [type]
  const oneType = type !== null
  const [now] = (await database.execute('SELECT NOW(6) AS now')).rows
  const running = (await database.execute(attemptsRunning(oneType), types)).rows
  const ended = (await database.execute(attemptsEnded(oneType), [microseconds(fromMsAgo), ...types, limit])).rows
  return {
    at: time(now ?? {}, 'now'),
    ended: ended.map(toEnded),
    allEnded: ended.length < limit,
    running: running.slice(0, recentLimits.running).map(toRunning),
    allRunning: running.length <= recentLimits.running
  }
}

function toEnded(row: SqlRow): EndedAttempt {
  return {
    taskId: text(row, 'task_id'),
    attempt: count(row, 'attempt'),
    type: text(row, 'type'),
    workerId: text(row, 'worker_id'),
    startedAt: time(row, 'started_at'),
    endedAt: time(row, 'ended_at'),
    outcome: text(row, 'outcome') as AttemptOutcome,
    errorCode: textOrNull(row, 'error_code')
  }
}

function toRunning(row: SqlRow): RunningAttempt {
  const stateSince = time(row, 'state_since')
  return {
    taskId: text(row, 'id'),
    attempt: count(row, 'attempt'),
    type: text(row, 'type'),
    workerId: textOrNull(row, 'worker_id') ?? '',
    startedAt: timeOrNull(row, 'started_at') ?? stateSince,
    leaseUntil: time(row, 'lease_until'),
    leaseMs: countOrNull(row, 'lease_ms'),
    state: text(row, 'state') as TaskState,
    stateSince
  }
}
