import {
  misfireAfterMs,
  type Schedule,
  type ScheduleInput,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner
} from '../../kernel/index.ts'
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
import { lockNamed } from './policies.ts'
import { anyAffected, repeatable } from './repeatable.ts'
import { count, microseconds, rowId, text, textOrNull, time, timeOrNull, utcText } from './row-values.ts'

const columns = `name, cron, time_zone, misfire, enabled, task, next_at, last_tick_at, last_task_id, missed, problem, updated_at`

const listSchedules = `SELECT ${columns} FROM taskdeck_schedule ORDER BY name LIMIT ${scheduleLimits.inAll}`

const countOthers = 'SELECT COUNT(*) AS n FROM taskdeck_schedule WHERE name <> ?'

const lockSchedule = `SELECT ${columns}, NOW(6) AS now FROM taskdeck_schedule WHERE name = ? FOR UPDATE`

/** What was run and missed so far stays with the name. */
const writeSchedule = `
INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, next_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, NOW(6))
ON DUPLICATE KEY UPDATE cron = VALUES(cron), time_zone = VALUES(time_zone), misfire = VALUES(misfire),
  enabled = VALUES(enabled), task = VALUES(task), next_at = VALUES(next_at), problem = NULL, updated_at = NOW(6)`

/** Only those that are enabled have a next tick. */
export const findOnTime = `
SELECT ${columns}, NOW(6) AS now FROM taskdeck_schedule FORCE INDEX (taskdeck_schedule_next)
WHERE next_at <= NOW(6) AND next_at >= NOW(6) - INTERVAL ${microseconds(misfireAfterMs)} MICROSECOND
ORDER BY next_at LIMIT ${scheduleLimits.perRound}`

export const findLate = `
SELECT ${columns}, NOW(6) AS now FROM taskdeck_schedule FORCE INDEX (taskdeck_schedule_next)
WHERE next_at < NOW(6) - INTERVAL ${microseconds(misfireAfterMs)} MICROSECOND
ORDER BY next_at LIMIT ${scheduleLimits.perRound}`

/** Written by another program, which leaves it to us to count the ticks. */
export const findUncounted = `
SELECT ${columns}, NOW(6) AS now FROM taskdeck_schedule FORCE INDEX (taskdeck_schedule_next)
WHERE next_at IS NULL AND enabled = 1 AND problem IS NULL LIMIT ${scheduleLimits.perRound}`

export const findNext = `
SELECT next_at, NOW(6) AS now FROM taskdeck_schedule FORCE INDEX (taskdeck_schedule_next)
WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`

/** Only as it was read: someone else may have advanced or changed it since. */
const advance = `
UPDATE taskdeck_schedule SET next_at = ?, last_tick_at = ?, last_task_id = ?, missed = missed + ?, problem = ?
WHERE name = ? AND updated_at = ? AND next_at <=> ?`

export async function listAllSchedules(database: SqlDatabase): Promise<Schedule[]> {
  return (await database.execute(listSchedules)).rows.map((row) => showSchedule(stored(row)))
}

export async function putSchedule(database: SqlDatabase, input: ScheduleInput): Promise<void> {
  const now = time((await database.execute('SELECT NOW(6) AS now')).rows[0] ?? {}, 'now')
  const checked = checkSchedule(input, now)
  const work = async (runner: SqlRunner): Promise<void> => {
    await lockNamed(runner, "The schedule's task is not valid", checked.task.retryPolicy)
    requireRoomForSchedule(count((await runner.execute(countOthers, [checked.name])).rows[0] ?? {}, 'n'))
    const [row] = (await runner.execute(lockSchedule, [checked.name])).rows
    await runner.execute(writeSchedule, [
      checked.name,
      checked.cron,
      checked.timeZone,
      checked.misfire,
      checked.enabled ? 1 : 0,
      JSON.stringify(checked.task),
      (row && keepsTick(stored(row), checked) ? textOrNull(row, 'next_at') : null) ??
        (checked.nextAt === null ? null : utcText(checked.nextAt))
    ])
  }
  // Writing the same once more changes nothing.
  await database.transaction(work, repeatable)
}

export function removeSchedule(database: SqlDatabase, name: string): Promise<boolean> {
  return anyAffected(database, 'DELETE FROM taskdeck_schedule WHERE name = ?', [name])
}

export function runSchedules(database: SqlDatabase, work: RoundWork): Promise<ScheduleRound> {
  const find = async (sql: string): Promise<FoundSchedule<SqlRow>[]> =>
    (await database.execute(sql)).rows.map((row) => ({ row, schedule: stored(row), nowMs: time(row, 'now') }))
  const table = {
    onTime: () => find(findOnTime),
    uncounted: () => find(findUncounted),
    late: () => find(findLate),
    write: (row: SqlRow, done: ScheduleAdvance) => write(database, row, done),
    nextInMs: () => readNextInMs(database)
  }
  return runScheduleRound(table, work)
}

async function readNextInMs(database: SqlDatabase): Promise<number | null> {
  const [next] = (await database.execute(findNext)).rows
  return next ? Math.max(0, time(next, 'next_at') - time(next, 'now')) : null
}

async function write(database: SqlDatabase, row: SqlRow, done: ScheduleAdvance): Promise<void> {
  await anyAffected(database, advance, [
    done.nextAt === null ? null : utcText(done.nextAt),
    done.lastTickAt === null ? null : utcText(done.lastTickAt),
    done.lastTaskId === null ? null : (rowId(done.lastTaskId) ?? null),
    done.missedMore,
    done.problem,
    text(row, 'name'),
    text(row, 'updated_at'),
    textOrNull(row, 'next_at')
  ])
}

const stored = (row: SqlRow): StoredSchedule => ({
  name: text(row, 'name'),
  cron: text(row, 'cron'),
  timeZone: text(row, 'time_zone'),
  misfire: text(row, 'misfire'),
  enabled: count(row, 'enabled') === 1,
  task: text(row, 'task'),
  nextAt: timeOrNull(row, 'next_at'),
  lastTickAt: timeOrNull(row, 'last_tick_at'),
  lastTaskId: textOrNull(row, 'last_task_id'),
  missed: count(row, 'missed'),
  problem: textOrNull(row, 'problem')
})
