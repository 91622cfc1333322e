import type { AttemptOutcome, ProbeLimit, TaskState } from '../kernel/index.ts'

/**
 * What one look at the attempts of the last while returns at most. Both parts are one range of an index, newest (or first to expire) first,
 * with a look into the table for each row: some 10 ms for all of them.
 */
export const recentLimits = { fromMsAgo: 6 * 3_600_000, ended: 2_000, running: 1_000 } as const

/** Which attempts: those that ended at most `fromMsAgo` ago, the newest `limit` of them. Both are cut to `recentLimits`. */
export interface RecentWindow {
  readonly fromMsAgo: number
  readonly limit: number
  /** Of this type only: the window's part of the index is then looked through for it. null: of all. */
  readonly type: string | null
}

/** Times are the database's clock, milliseconds since the epoch. */
export interface EndedAttempt {
  readonly taskId: string
  readonly attempt: number
  readonly type: string
  readonly workerId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptOutcome
  readonly errorCode: string | null
}

export interface RunningAttempt {
  readonly taskId: string
  readonly attempt: number
  readonly type: string
  readonly workerId: string
  readonly startedAt: number
  readonly leaseUntil: number
  /** What each renewal gives; null in a row that another program wrote. */
  readonly leaseMs: number | null
  /** RUNNING or CANCEL_REQUESTED. */
  readonly state: TaskState
  readonly stateSince: number
}

/** One attempt may be in both parts when it ended between two looks: it has ended. */
export interface RecentAttempts {
  /** The database's clock when it looked. */
  readonly at: number
  /** The last to end first. */
  readonly ended: readonly EndedAttempt[]
  /** False: `limit` attempts ended since the window's start, or more; those before the last of `ended` are not told. */
  readonly allEnded: boolean
  /** The first lease to expire first. */
  readonly running: readonly RunningAttempt[]
  readonly allRunning: boolean
  /** What the cost guard held back or cut short: what is then missing above is not known. Empty when nothing was. */
  readonly limits: readonly ProbeLimit[]
}

/** The window within `recentLimits`. */
export function boundedWindow({ fromMsAgo, limit, type }: RecentWindow): RecentWindow {
  return {
    type,
    fromMsAgo: Math.min(recentLimits.fromMsAgo, Math.max(0, Math.round(fromMsAgo))),
    limit: Math.min(recentLimits.ended, Math.max(1, Math.floor(limit)))
  }
}
