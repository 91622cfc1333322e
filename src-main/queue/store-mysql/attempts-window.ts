import type { AttemptOutcome, Probe, ProbeGuard, SqlRow, TaskState } from '../../kernel/index.ts'
import {
  boundedWindow,
  recentLimits,
  type EndedAttempt,
  type RecentAttempts,
  type RecentWindow,
  type RunningAttempt
} from '../recent-attempts.ts'
import { count, countOrNull, microseconds, text, textOrNull, time, timeOrNull } from './row-values.ts'

/** The name under which the cost guard knows these statements. */
const lanesProbe = 'lanes'

const ofType = (one: boolean): string => (one ? 'AND type = ?' : '')

/** Values: the window in microseconds, the type when it is one's, the limit. */
export const attemptsEnded = (oneType: boolean): Probe => ({
  name: lanesProbe,
  sql: `
SELECT task_id, attempt, type, worker_id, started_at, ended_at, outcome, error_code
FROM taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)
WHERE ended_at > NOW(6) - INTERVAL ? MICROSECOND ${ofType(oneType)} ORDER BY ended_at DESC LIMIT ?`,
  tables: ['taskdeck_attempt'],
  index: 'CREATE INDEX taskdeck_attempt_ended ON taskdeck_attempt (ended_at, outcome, type)'
})

export const attemptsRunning = (oneType: boolean): Probe => ({
  name: lanesProbe,
  sql: `
SELECT id, attempt, type, worker_id, started_at, lease_until, lease_ms, state, state_since
FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
WHERE lease_until IS NOT NULL ${ofType(oneType)} ORDER BY lease_until LIMIT ${recentLimits.running + 1}`,
  tables: ['taskdeck_task'],
  index: 'CREATE INDEX taskdeck_task_lease ON taskdeck_task (lease_until, state, type, owner)'
})

/** What runs is read first: an attempt that ends in between is then told twice, and never lost. */
export async function recentAttempts(guard: ProbeGuard, window: RecentWindow): Promise<RecentAttempts> {
  const { fromMsAgo, limit, type } = boundedWindow(window)
  const types = type === null ? [] : [type]
  const oneType = type !== null
  const round = await guard.begin()
  const running = await round.rows(attemptsRunning(oneType), types)
  const ended = await round.rows(attemptsEnded(oneType), [microseconds(fromMsAgo), ...types, limit])
  const { limits } = await round.end()
  return {
    at: time({ now: round.now }, 'now'),
    ended: (ended ?? []).map(toEnded),
    allEnded: ended !== undefined && ended.length < limit,
    running: (running ?? []).slice(0, recentLimits.running).map(toRunning),
    allRunning: running !== undefined && running.length <= recentLimits.running,
    limits: limits.filter(({ probe }) => probe === lanesProbe)
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
