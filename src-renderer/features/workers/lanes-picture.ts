import type { EndedAttempt, Lanes, ProbeLimit, RunningAttempt } from '@contract'

/** Attempts that are kept and drawn at most; more is a texture that nobody reads. */
const mostKept = 4_000

/** What is known of one connection's attempts. Times are the database's clock, ms since the epoch. */
export interface LanesPicture {
  readonly connectionId: string
  readonly windowMs: number
  readonly at: number
  /** Every attempt that ended since then is known; before it nothing is. */
  readonly knownSince: number
  /** The last to end first. */
  readonly ended: readonly EndedAttempt[]
  readonly running: readonly RunningAttempt[]
  readonly allRunning: boolean
  /** Why the newest look was held back; null when it was not. The rest is then as it was before. */
  readonly held: ProbeLimit | null
}

export interface Look {
  readonly connectionId: string
  readonly windowMs: number
  readonly fromMsAgo: number
}

export const attemptKey = ({ taskId, attempt }: Pick<EndedAttempt, 'taskId' | 'attempt'>): string =>
  `${taskId}/${attempt}`

/** The picture with a newer look in it. A look that did not reach back to the picture's end replaces it: what lies between is not known. */
export function mergeLook(before: LanesPicture | null, lanes: Lanes, look: Look): LanesPicture {
  const held = lanes.limits[0] ?? null
  if (held && before?.connectionId === look.connectionId) return { ...before, held }
  const oldest = lanes.ended.at(-1)?.endedAt ?? lanes.at
  const reachesTo = lanes.allEnded ? lanes.at - look.fromMsAgo : oldest
  const joins = before !== null && before.connectionId === look.connectionId && reachesTo <= before.at
  const known = new Set(lanes.ended.map(attemptKey))
  const from = lanes.at - look.windowMs
  const older = joins ? before.ended.filter((one) => one.endedAt >= from && !known.has(attemptKey(one))) : []
  const all = [...lanes.ended, ...older].sort((a, b) => b.endedAt - a.endedAt)
  const ended = all.slice(0, mostKept)
  const since = Math.max(from, joins ? Math.min(before.knownSince, reachesTo) : reachesTo)
  return {
    connectionId: look.connectionId,
    windowMs: look.windowMs,
    at: lanes.at,
    knownSince: all.length > mostKept ? Math.max(since, ended.at(-1)?.endedAt ?? since) : since,
    ended,
    running: lanes.running.filter((one) => !known.has(attemptKey(one))),
    allRunning: lanes.allRunning,
    held
  }
}
