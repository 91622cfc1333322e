import { workerAliveMs, type QueueReading, type WorkerRow } from '@contract'
import type { HealthKind } from '@/shared/ui/Health.vue'

/**
 * `lost`: no heartbeat for too long. `stopped`: it said goodbye. `faulty`: it noticed a fault itself. `database`: it cannot reach the
 * database well. `stopping`: it ends its tasks and then itself. `quiet`: it was asked to take nothing new. `saturated`: no free slot while tasks wait. `well`: none of these.
 */
export type WorkerCondition = 'lost' | 'stopped' | 'faulty' | 'database' | 'stopping' | 'quiet' | 'saturated' | 'well'

/** One worker as the table shows it. Ages are ms at the reading, by the database's clock; null is unknown. */
export interface WorkerView {
  readonly row: WorkerRow
  readonly condition: WorkerCondition
  readonly health: HealthKind
  readonly heartbeatMs: number
  readonly pollMs: number | null
  readonly claimMs: number | null
}

const marks: Record<WorkerCondition, HealthKind> = {
  lost: 'lost',
  stopped: 'unknown',
  faulty: 'look',
  database: 'look',
  stopping: 'look',
  quiet: 'look',
  saturated: 'look',
  well: 'ok'
}

/** `at` is the reading's time; `waiting` how many tasks could be run if there were a slot. */
export function conditionOf(row: WorkerRow, at: number, waiting: number): WorkerCondition {
  if (row.status === 'stopped') return 'stopped'
  if (at - row.lastHeartbeatAt >= workerAliveMs) return 'lost'
  if (row.fault !== null) return 'faulty'
  if (row.database !== 'ok') return 'database'
  if (row.status === 'stopping' || row.status === 'quiet') return row.status
  return row.running >= row.slots && waiting > 0 ? 'saturated' : 'well'
}

const waitingIn = (reading: QueueReading): number =>
  reading.depth.filter((part) => part.state === 'QUEUED').reduce((sum, part) => sum + part.count, 0)

/** A lost one is what somebody came to see; one that said goodbye is what nobody did. */
const placeOf = ({ condition }: WorkerView): number => (condition === 'lost' ? 0 : condition === 'stopped' ? 2 : 1)

/** All workers by name, lost ones first and those that said goodbye last. */
export function workerViews(reading: QueueReading): WorkerView[] {
  const { at } = reading
  const waiting = waitingIn(reading)
  const age = (then: number | null): number | null => (then === null ? null : Math.max(0, at - then))
  return reading.workers
    .map((row) => {
      const condition = conditionOf(row, at, waiting)
      const heartbeatMs = Math.max(0, at - row.lastHeartbeatAt)
      const ages = { heartbeatMs, pollMs: age(row.lastPollAt), claimMs: age(row.lastClaimAt) }
      return { row, condition, health: marks[condition], ...ages }
    })
    .sort((a, b) => placeOf(a) - placeOf(b) || a.row.id.localeCompare(b.row.id, 'en', { numeric: true }))
}

export interface WorkerFacts {
  readonly alive: number
  /** Without those that said goodbye. */
  readonly known: number
  readonly lost: number
  /** Of the ones alive: what the lost ones do is not known. */
  readonly running: number
  readonly slots: number
  readonly queued: number
  /** The slowest worker's, ms; null when none has claimed. */
  readonly claimP95Ms: number | null
  /** Attempts of lost workers that were given to others in the last 5 min. */
  readonly recovered5m: number
}

export function factsOf(reading: QueueReading, views: readonly WorkerView[]): WorkerFacts {
  const known = views.filter((view) => view.condition !== 'stopped')
  const alive = known.filter((view) => view.condition !== 'lost')
  const sum = (pick: (row: WorkerRow) => number): number => alive.reduce((total, { row }) => total + pick(row), 0)
  const p95s = alive.flatMap(({ row }) => row.claimP95Ms ?? [])
  return {
    alive: alive.length,
    known: known.length,
    lost: known.length - alive.length,
    running: sum((row) => row.running),
    slots: sum((row) => row.slots),
    queued: sum((row) => row.queued),
    claimP95Ms: p95s.length > 0 ? Math.max(...p95s) : null,
    recovered5m: reading.flow.reduce((total, flow) => total + flow.recovered5m, 0)
  }
}
