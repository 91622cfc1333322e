import { z } from 'zod'
import { newTask, taskId } from './task.ts'

/** What becomes of ticks that nobody was there for: none of them, the newest one, or each (the newest 100 at most). */
export const misfireRule = z.enum(['SKIP', 'ONCE', 'ALL'])
export type MisfireRule = z.infer<typeof misfireRule>

/** A tick later than this is a misfire (ms). */
export const misfireAfterMs = 60_000

/** Submits one task a tick, however many processes look after it: the tick is in the task's idempotency key. */
export const scheduleInput = z.strictObject({
  name: z.string().min(1).max(100),
  /** Five fields, or six with seconds in front; see docs/sql-protocol.md. */
  cron: z.string().min(1).max(200),
  /**
   * IANA name. Fixed times (without `*` or steps in the fields of the time of day) follow the wall clock: in an hour that a clock change repeats they
   * happen once, those in the hour that it leaves out right after it. Others go on in real time.
   */
  timeZone: z.string().min(1).max(64).default('UTC'),
  misfire: misfireRule.default('ONCE'),
  enabled: z.boolean().default(true),
  /** Without idempotency key and `runAt`: the tick gives both. */
  task: newTask.omit({ idempotencyKey: true, runAt: true }).strict()
})
export type ScheduleInput = z.input<typeof scheduleInput>

export const schedule = scheduleInput.extend({
  nextAt: z.number().nullable(),
  lastTickAt: z.number().nullable(),
  lastTaskId: taskId.nullable(),
  /** Ticks that were left out or came late, since the schedule was made. */
  missed: z.int().min(0),
  /** Why its last tick submitted nothing, such as a quota; null when it did. */
  problem: z.string().nullable()
})
export type Schedule = z.infer<typeof schedule>
