import { type Schedule, type ScheduleInput } from '../../kernel/index.ts'
import {
  advanceOf,
  checkSchedule,
  failedSchedules,
  keepsTick,
  requireRoomForSchedule,
  scheduleLimits,
  showSchedule,
  type ScheduleAdvance,
  type StoredSchedule,
  type SubmitTasks
} from '../schedules.ts'
import type { ScheduleStore } from '../task-store.ts'
import { rowId, type QueueFile, type Session } from './queue-file.ts'
import { toMicroseconds, toMs } from './task-rows.ts'

type ScheduleRound = Awaited<ReturnType<ScheduleStore['runSchedules']>>

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
export const findDue = `
SELECT ${columns} FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
WHERE next_at <= :at ORDER BY next_at LIMIT ${scheduleLimits.perRound}`

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

/** One schedule after the other; one that fails does not keep the others from their ticks. */
export async function runSchedules(file: QueueFile, submit: SubmitTasks): Promise<ScheduleRound> {
  let submitted = 0
  const giveWay = (): Promise<void> => file.letOthersRun()
  const failures: { name: string; error: unknown }[] = []
  const { due, at } = await file.read(readDue)
  for (const row of due) {
    try {
      const done = await advanceOf(stored(row), at / 1_000, { submit, giveWay })
      await file.write((session) => write(session, row, done))
      submitted += done.submitted
    } catch (error) {
      failures.push({ name: row.name, error })
    }
  }
  if (failures.length > 0) throw failedSchedules(failures)
  return { submitted, nextInMs: await file.read(readNextInMs) }
}

const readDue = (session: Session): { due: ScheduleRow[]; at: number } => ({
  due: [...session.all<ScheduleRow>(findDue, { at: session.at }), ...session.all<ScheduleRow>(findUncounted)],
  at: session.at
})

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
