import type { QueueReading, RunningAttempt } from '@contract'
import type { LanesPicture } from './lanes-picture.ts'
import type { WorkerView } from './worker-health.ts'

/** A lease that its worker should have renewed by now. */
export interface LeaseAtRisk {
  readonly attempt: RunningAttempt
  /** Until it expires, ms; below zero: it has, and waits for recovery. */
  readonly leftMs: number
}

/** A worker renews at a third of the lease: with less than half of it left, one renewal at least is missing. */
const renewedShare = 0.5
/** For a lease whose length is not known, ms. */
const shortLeaseMs = 5_000

/** The first to expire first. */
export function leasesAtRisk({ running, at }: LanesPicture): LeaseAtRisk[] {
  return running
    .map((attempt) => ({ attempt, leftMs: attempt.leaseUntil - at }))
    .filter(({ attempt: { leaseMs }, leftMs }) => leftMs < (leaseMs === null ? shortLeaseMs : leaseMs * renewedShare))
    .sort((a, b) => a.leftMs - b.leftMs)
}

/** What speaks for a task being stuck. */
export type Evidence =
  /** It runs far longer than the type's attempts of the last minutes. */
  | { readonly kind: 'slow'; readonly runningMs: number; readonly times: number; readonly p99Ms: number }
  /** Its worker gives no sign of life. */
  | { readonly kind: 'silent'; readonly silentMs: number }
  /** It was asked to stop and goes on. */
  | { readonly kind: 'cancel'; readonly askedMs: number }
  /** Nobody has taken it over. */
  | { readonly kind: 'expired'; readonly sinceMs: number }

export interface StuckTask {
  readonly attempt: RunningAttempt
  readonly evidence: readonly Evidence[]
}

export const stuckLimits = {
  /** Times the type's p99. */
  slowTimes: 3,
  /** What takes less is not stuck, whatever its p99. */
  slowMs: 10_000,
  /** A handler looks for a request to stop now and then. */
  cancelMs: 30_000,
  /** Recovery comes by within seconds. */
  expiredMs: 30_000
} as const

/** The most evidence first, then the longest running. */
export function stuckTasks(
  { running, at }: LanesPicture,
  workers: readonly WorkerView[],
  reading: Pick<QueueReading, 'flow'>
): StuckTask[] {
  const silence = new Map(
    workers.filter((view) => view.condition === 'lost').map((view) => [view.row.id, at - view.row.lastHeartbeatAt])
  )
  const p99 = new Map(reading.flow.map((flow) => [flow.type, flow.duration?.p99 ?? null]))
  return running
    .map((attempt) => ({
      attempt,
      evidence: evidenceOf(attempt, {
        at,
        p99Ms: p99.get(attempt.type) ?? null,
        silentMs: silence.get(attempt.workerId) ?? null
      })
    }))
    .filter(({ evidence }) => evidence.length > 0)
    .sort((a, b) => b.evidence.length - a.evidence.length || a.attempt.startedAt - b.attempt.startedAt)
}

function evidenceOf(
  attempt: RunningAttempt,
  known: { readonly at: number; readonly p99Ms: number | null; readonly silentMs: number | null }
): Evidence[] {
  const { at, p99Ms, silentMs } = known
  const runningMs = at - attempt.startedAt
  const askedMs = attempt.state === 'CANCEL_REQUESTED' ? at - attempt.stateSince : 0
  const expiredMs = at - attempt.leaseUntil
  const found: Evidence[] = []
  if (silentMs !== null) found.push({ kind: 'silent', silentMs })
  if (p99Ms !== null && p99Ms > 0 && runningMs >= stuckLimits.slowMs && runningMs > stuckLimits.slowTimes * p99Ms)
    found.push({ kind: 'slow', runningMs, times: runningMs / p99Ms, p99Ms })
  if (askedMs > stuckLimits.cancelMs) found.push({ kind: 'cancel', askedMs })
  if (expiredMs > stuckLimits.expiredMs) found.push({ kind: 'expired', sinceMs: expiredMs })
  return found
}
