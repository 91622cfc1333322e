import {
  taskLimits,
  type Clock,
  type Percentiles,
  type QueueReading,
  type TaskState,
  type TypeFlow
} from '../../kernel/index.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { isWaiting } from './states.ts'
import { listWorkers } from './workers.ts'

const minute = 60_000_000
const fiveMinutes = 5 * minute
const sampleSize = 1_000

export const depthProbe = `
SELECT type, state, COUNT(*) AS count FROM taskdeck_task INDEXED BY taskdeck_task_live
WHERE finished_at IS NULL GROUP BY type, state`

export const oldestProbe = `
SELECT CAST(id AS TEXT) AS id, run_at FROM taskdeck_task INDEXED BY taskdeck_task_claim
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND run_at <= :at
ORDER BY run_at, taskdeck_task.id LIMIT 1`

export const submittedProbe = `
SELECT type, COUNT(*) AS count FROM taskdeck_task INDEXED BY taskdeck_task_created
WHERE created_at > :since GROUP BY type`

export const finishedProbe = `
SELECT type, COUNT(*) AS count FROM taskdeck_task INDEXED BY taskdeck_task_finished
WHERE finished_at IS NOT NULL AND finished_at > :since GROUP BY type`

export const endedProbe = `
SELECT type, outcome, COUNT(*) AS count FROM taskdeck_attempt INDEXED BY taskdeck_attempt_ended
WHERE ended_at > :since AND outcome <> 'HANDED_BACK' GROUP BY type, outcome`

export const newestAttempts = `
SELECT ended_at - started_at AS duration, started_at - due_at AS pickup
FROM taskdeck_attempt INDEXED BY taskdeck_attempt_ended
WHERE ended_at > :since AND outcome <> 'HANDED_BACK' ORDER BY ended_at DESC LIMIT ${sampleSize}`

export const newestAttemptsOfType = `
SELECT ended_at - started_at AS duration, started_at - due_at AS pickup
FROM taskdeck_attempt INDEXED BY taskdeck_attempt_type_ended
WHERE type = +:type AND ended_at > :since AND outcome <> 'HANDED_BACK' ORDER BY ended_at DESC LIMIT ${sampleSize}`

interface Count {
  readonly type: string
  readonly count: number
}

/** Each probe reads an index only; the dearest, the depth, one entry for each task that has not ended. */
export async function readQueue(file: QueueFile, clock: Clock): Promise<QueueReading> {
  const began = clock.monotonic()
  const reading = await file.read((session) => {
    const depth = session.all<Count & { readonly state: TaskState }>(depthProbe)
    const types = [...new Set(depth.map(({ type }) => type))]
    return {
      at: session.at / 1000,
      depth,
      oldest: oldestOfTypes(session, types),
      flow: flowOfTypes(session),
      ...latencies(session.all<Sample>(newestAttempts, { since: session.at - fiveMinutes })),
      workers: listWorkers(session)
    }
  })
  return { ...reading, costMs: clock.monotonic() - began }
}

function oldestOfTypes(session: Session, types: readonly string[]): QueueReading['oldest'] {
  const oldest = types.flatMap((type) => {
    const heads = Array.from({ length: taskLimits.priorities }, (_, priority) =>
      session.get<{ id: string; run_at: number }>(oldestProbe, { type, priority, at: session.at })
    ).filter((head) => head !== undefined)
    const [first] = heads.sort((a, b) => a.run_at - b.run_at)
    return first ? [{ type, taskId: first.id, ageMs: (session.at - first.run_at) / 1000 }] : []
  })
  return oldest.sort((a, b) => b.ageMs - a.ageMs)
}

function flowOfTypes(session: Session): TypeFlow[] {
  const lastMinute = { since: session.at - minute }
  const submitted = session.all<Count>(submittedProbe, lastMinute)
  const finished = session.all<Count>(finishedProbe, lastMinute)
  const ended = session.all<Count & { readonly outcome: string }>(endedProbe, { since: session.at - fiveMinutes })
  const types = [...new Set([...submitted, ...finished, ...ended].map(({ type }) => type))].sort()
  return types.map((type) => {
    const ofType = ended.filter((row) => row.type === type)
    const withOutcome = (outcome: string): number => sum(ofType.filter((row) => row.outcome === outcome))
    const samples =
      ofType.length === 0 ? [] : session.all<Sample>(newestAttemptsOfType, { type, since: session.at - fiveMinutes })
    return {
      type,
      submitted1m: sum(submitted.filter((row) => row.type === type)),
      finished1m: sum(finished.filter((row) => row.type === type)),
      ended5m: sum(ofType),
      failed5m: withOutcome('FAILED'),
      retried5m: withOutcome('RETRY'),
      recovered5m: withOutcome('LEASE_EXPIRED'),
      ...latencies(samples)
    }
  })
}

const sum = (counts: readonly Count[]): number => counts.reduce((total, { count }) => total + count, 0)

interface Sample {
  readonly duration: number
  readonly pickup: number
}

function latencies(samples: readonly Sample[]): { duration: Percentiles | null; pickup: Percentiles | null } {
  return {
    duration: percentilesOf(samples.map(({ duration }) => duration / 1000)),
    pickup: percentilesOf(samples.map(({ pickup }) => pickup / 1000))
  }
}

/** Nearest rank: each figure is a value that was measured. */
function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const at = (fraction: number): number => sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
