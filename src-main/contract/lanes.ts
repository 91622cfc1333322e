import { z } from 'zod'
import { attemptOutcome, probeLimit, taskId, taskState } from '../kernel/index.ts'

/*
 * Who ran what, and who runs what now. Times are the database's clock, ms since the epoch.
 */

export const laneLimits = { fromMsAgo: 6 * 3_600_000, ended: 2_000 } as const

export const lanesQuestion = z.object({
  connectionId: z.string(),
  /** Attempts that ended since then. */
  fromMsAgo: z.int().min(1_000).max(laneLimits.fromMsAgo),
  limit: z.int().min(1).max(laneLimits.ended).default(laneLimits.ended),
  /** Of this type only; null: of all. */
  type: z.string().max(100).nullable().default(null)
})

export const endedAttempt = z.object({
  taskId,
  attempt: z.int(),
  type: z.string(),
  workerId: z.string(),
  startedAt: z.number(),
  endedAt: z.number(),
  outcome: attemptOutcome,
  errorCode: z.string().nullable()
})
export type EndedAttempt = z.infer<typeof endedAttempt>

export const runningAttempt = z.object({
  taskId,
  attempt: z.int(),
  type: z.string(),
  workerId: z.string(),
  startedAt: z.number(),
  leaseUntil: z.number(),
  /** What each renewal gives; null when it is not known. */
  leaseMs: z.number().nullable(),
  /** RUNNING or CANCEL_REQUESTED. */
  state: taskState,
  stateSince: z.number()
})
export type RunningAttempt = z.infer<typeof runningAttempt>

export const lanes = z.object({
  at: z.number(),
  /** The last to end first. One that ended while the app looked may be in `running` too: it has ended. */
  ended: z.array(endedAttempt),
  /** False: only the newest `limit` are told, and nothing is known of the time before. */
  allEnded: z.boolean(),
  /** The first lease to expire first, at most 1,000. */
  running: z.array(runningAttempt),
  allRunning: z.boolean(),
  /** What the cost guard held back: what is then missing above is not known. */
  limits: z.array(probeLimit)
})
export type Lanes = z.infer<typeof lanes>
