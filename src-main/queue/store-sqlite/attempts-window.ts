import type { AttemptOutcome, TaskState } from '../../kernel/index.ts'
import {
  boundedWindow,
  recentLimits,
  type EndedAttempt,
  type RecentAttempts,
  type RecentWindow,
  type RunningAttempt
} from '../recent-attempts.ts'
import type { QueueFile } from './queue-file.ts'
import { toMicroseconds } from './task-rows.ts'

const ofType = '(:type IS NULL OR type = :type)'

export const attemptsEnded = `
SELECT CAST(task_id AS TEXT) AS task_id, attempt, type, worker_id, started_at, ended_at, outcome, error_code
FROM taskdeck_attempt INDEXED BY taskdeck_attempt_ended
WHERE ended_at > :since AND ${ofType} ORDER BY ended_at DESC LIMIT :limit`

export const attemptsRunning = `
SELECT CAST(id AS TEXT) AS id, attempt, type, worker_id, started_at, lease_until, lease_ms, state, state_since
FROM taskdeck_task INDEXED BY taskdeck_task_lease
WHERE lease_until IS NOT NULL AND ${ofType} ORDER BY lease_until LIMIT ${recentLimits.running + 1}`

export function recentAttempts(file: QueueFile, window: RecentWindow): Promise<RecentAttempts> {
  const { fromMsAgo, limit, type } = boundedWindow(window)
  return file.read((session) => {
    const running = session.all<RunningRow>(attemptsRunning, { type })
    const ended = session.all<EndedRow>(attemptsEnded, { since: session.at - toMicroseconds(fromMsAgo), type, limit })
    return {
      at: session.at / 1000,
      ended: ended.map(toEnded),
      allEnded: ended.length < limit,
      running: running.slice(0, recentLimits.running).map(toRunning),
      allRunning: running.length <= recentLimits.running,
      limits: []
    }
  })
}

interface EndedRow {
  readonly task_id: string
  readonly attempt: number
  readonly type: string
  readonly worker_id: string
  readonly started_at: number
  readonly ended_at: number
  readonly outcome: AttemptOutcome
  readonly error_code: string | null
}

function toEnded(row: EndedRow): EndedAttempt {
  return {
    taskId: row.task_id,
    attempt: row.attempt,
    type: row.type,
    workerId: row.worker_id,
    startedAt: row.started_at / 1000,
    endedAt: row.ended_at / 1000,
    outcome: row.outcome,
    errorCode: row.error_code
  }
}

interface RunningRow {
  readonly id: string
  readonly attempt: number
  readonly type: string
  readonly worker_id: string | null
  readonly started_at: number | null
  readonly lease_until: number
  readonly lease_ms: number | null
  readonly state: TaskState
  readonly state_since: number
}

function toRunning(row: RunningRow): RunningAttempt {
  return {
    taskId: row.id,
    attempt: row.attempt,
    type: row.type,
    workerId: row.worker_id ?? '',
    startedAt: (row.started_at ?? row.state_since) / 1000,
    leaseUntil: row.lease_until / 1000,
    leaseMs: row.lease_ms,
    state: row.state,
    stateSince: row.state_since / 1000
  }
}
