import { misfireAfterMs, type Schedule, type ScheduleInput } from '../../kernel/index.ts'
import { delaysAmong, requireKnownDelays } from '../named-delays.ts'
import { runScheduleRound, type FoundSchedule, type RoundWork } from '../schedule-round.ts'
import {
  checkSchedule,
  keepsTick,
  requireRoomForSchedule,
  scheduleLimits,
  showSchedule,
  type ScheduleAdvance,
  type StoredSchedule
} from '../schedules.ts'
import type { ScheduleRound } from '../task-store.ts'
import { readPolicies } from './policies.ts'
import { rowId, type QueueFile, type Session } from './queue-file.ts'
import { toMicroseconds, toMs } from './task-rows.ts'

interface ScheduleRow {
  readonly name: string
  readonly cron: string
  readonly time_zone: string
  readonly misfire: string
  readonly enabled: number
  readonly task: string
  readonly next_at: number | null
  readonly last_tick_at: number | null
  readonly last_task_id: string | null
  readonly missed: number
  readonly problem: string | null
  readonly updated_at: number
}

const columns = `name, cron, time_zone, misfire, enabled, task, next_at, last_tick_at, CAST(last_task_id AS TEXT) AS last_task_id,
  missed, problem, updated_at`

const listRows = `SELECT ${columns} FROM taskdeck_schedule ORDER BY name LIMIT ${scheduleLimits.inAll}`
const countOthers = 'SELECT COUNT(*) AS n FROM taskdeck_schedule WHERE name <> :name'
const findRow = `SELECT ${columns} FROM taskdeck_schedule WHERE name = :name`

/** What was run and missed so far stays with the name. */
const writeSchedule = `
INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, next_at, updated_at)
VALUES (:name, :cron, :timeZone, :misfire, :enabled, :task, :nextAt, :at)
ON CONFLICT (name) DO UPDATE SET cron = excluded.cron, time_zone = excluded.time_zone, misfire = excluded.misfire,
  enabled = excluded.enabled, task = excluded.task, next_at = excluded.next_at, problem = NULL,
  updated_at = excluded.updated_at`

/** Only those that are enabled have a next tick. */
export const findOnTime = `
SELECT ${columns} FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
WHERE next_at <= :at AND next_at >= :at - ${toMicroseconds(misfireAfterMs)} ORDER BY next_at LIMIT ${scheduleLimits.perRound}`

export const findLate = `
SELECT ${columns} FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
WHERE next_at < :at - ${toMicroseconds(misfireAfterMs)} ORDER BY next_at LIMIT ${scheduleLimits.perRound}`

/** Written by another program, which leaves it to us to count the ticks. */
export const findUncounted = `
SELECT ${columns} FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
WHERE next_at IS NULL AND enabled = 1 AND problem IS NULL LIMIT ${scheduleLimits.perRound}`

export const findNext = `
SELECT next_at FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`

/** Only as it was read: someone else may have advanced or changed it since. */
const advance = `
UPDATE taskdeck_schedule SET next_at = :nextAt, last_tick_at = :lastTickAt, last_task_id = :lastTaskId,
  missed = missed + :missedMore, problem = :problem
WHERE name = :name AND updated_at = :updatedAt AND next_at IS :wasNextAt`

export async function listAllSchedules(file: QueueFile): Promise<Schedule[]> {
  const rows = await file.read((session) => session.all<ScheduleRow>(listRows))
  return rows.map((row) => showSchedule(stored(row)))
}

export function putSchedule(file: QueueFile, input: ScheduleInput): Promise<void> {
  return file.write((session) => {
    const checked = checkSchedule(input, session.at / 1_000)
    requireKnownDelays("The schedule's task is not valid", checked.task.retryPolicy, delaysAmong(readPolicies(session)))
    requireRoomForSchedule(session.get<{ n: number }>(countOthers, { name: checked.name })?.n ?? 0)
    const before = session.get<ScheduleRow>(findRow, { name: checked.name })
    session.run(writeSchedule, {
      at: session.at,
      name: checked.name,
      cron: checked.cron,
      timeZone: checked.timeZone,
      misfire: checked.misfire,
      enabled: checked.enabled ? 1 : 0,
      task: JSON.stringify(checked.task),
      nextAt:
        (before && keepsTick(stored(before), checked) ? before.next_at : null) ?? microsecondsOrNull(checked.nextAt)
    })
  })
}

export function removeSchedule(file: QueueFile, name: string): Promise<boolean> {
  const remove = 'DELETE FROM taskdeck_schedule WHERE name = :name'
  return file.write((session) => session.run(remove, { name }).changes > 0)
}

export function runSchedules(file: QueueFile, work: RoundWork): Promise<ScheduleRound> {
  const find = (sql: string): Promise<FoundSchedule<ScheduleRow>[]> =>
    file.read((session) => {
      const rows = session.all<ScheduleRow>(sql, sql === findUncounted ? {} : { at: session.at })
      return rows.map((row) => ({ row, schedule: stored(row), nowMs: session.at / 1_000 }))
    })
  const table = {
    onTime: () => find(findOnTime),
    uncounted: () => find(findUncounted),
    late: () => find(findLate),
    write: (row: ScheduleRow, done: ScheduleAdvance) => file.write((session) => write(session, row, done)),
    nextInMs: () => file.read(readNextInMs)
  }
  return runScheduleRound(table, work)
}

function readNextInMs(session: Session): number | null {
  const next = session.get<{ next_at: number }>(findNext)
  return next ? Math.max(0, (next.next_at - session.at) / 1_000) : null
}

function write(session: Session, row: ScheduleRow, done: ScheduleAdvance): void {
  session.run(advance, {
    nextAt: microsecondsOrNull(done.nextAt),
    lastTickAt: microsecondsOrNull(done.lastTickAt),
    lastTaskId: done.lastTaskId === null ? null : (rowId(done.lastTaskId) ?? null),
    missedMore: done.missedMore,
    problem: done.problem,
    name: row.name,
    updatedAt: row.updated_at,
    wasNextAt: row.next_at
  })
}

const microsecondsOrNull = (ms: number | null): number | null => (ms === null ? null : toMicroseconds(ms))

const stored = (row: ScheduleRow): StoredSchedule => ({
  name: row.name,
  cron: row.cron,
  timeZone: row.time_zone,
  misfire: row.misfire,
  enabled: row.enabled === 1,
  task: row.task,
  nextAt: toMs(row.next_at),
  lastTickAt: toMs(row.last_tick_at),
  lastTaskId: row.last_task_id,
  missed: row.missed,
  problem: row.problem
})
