import { mostFlowRows, taskLimits, type Clock, type FlowCount, type QueueReading } from '../../kernel/index.ts'
import { flowOf, latenciesOf, latencySampleSize, type AttemptSample, type FlowRows } from '../reading-figures.ts'
import { readDepth } from './depth.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { isWaiting } from './states.ts'
import { listWorkers } from './workers.ts'

const minute = 60_000_000
const fiveMinutes = 5 * minute

export const oldestProbe = `
SELECT CAST(id AS TEXT) AS id, run_at FROM taskdeck_task INDEXED BY taskdeck_task_claim
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND run_at <= :at
ORDER BY run_at, taskdeck_task.id LIMIT 1`

/** The newest rows of a window, by type and outcome, and how far back they reach. */
const flowProbe = (table: string, column: string, outcome: string): string => `
SELECT type, outcome, COUNT(*) AS count, (:at - MIN(reached)) / 1000.0 AS reachedMs FROM (
  SELECT type, ${outcome} AS outcome, ${column} AS reached FROM ${table}
  WHERE ${column} > :since ORDER BY ${column} DESC LIMIT ${mostFlowRows}
) GROUP BY type, outcome`

export const submittedProbe = flowProbe('taskdeck_task INDEXED BY taskdeck_task_created', 'created_at', "''")
export const finishedProbe = flowProbe('taskdeck_task INDEXED BY taskdeck_task_finished', 'finished_at', "''")
export const endedProbe = flowProbe('taskdeck_attempt INDEXED BY taskdeck_attempt_ended', 'ended_at', 'outcome')

/** A hand-back ran nothing. Types are told apart afterwards: one statement, whatever their number. */
export const newestAttempts = `
SELECT type, (ended_at - started_at) / 1000.0 AS durationMs, (started_at - due_at) / 1000.0 AS pickupMs
FROM taskdeck_attempt INDEXED BY taskdeck_attempt_ended
WHERE ended_at > :since AND outcome <> 'HANDED_BACK' ORDER BY ended_at DESC LIMIT ${latencySampleSize}`

/** Late schedules that are counted. */
const mostLate = 1_000

/** A disabled schedule has no next tick. */
export const lateSchedules = `
SELECT COUNT(*) AS count FROM (
  SELECT 1 FROM taskdeck_schedule INDEXED BY taskdeck_schedule_next
  WHERE next_at < :at - ${minute} AND enabled = 1 LIMIT ${mostLate}
)`

/** Each probe reads a bounded part of one index. SQLite runs in this process: a time limit would bind nobody else. */
export async function readQueue(file: QueueFile, clock: Clock): Promise<QueueReading> {
  const began = clock.monotonic()
  const reading = await file.read((session) => {
    const { depth, limits } = readDepth(session)
    const samples = session.all<AttemptSample>(newestAttempts, { since: session.at - fiveMinutes })
    const types = [...new Set(depth.map(({ type }) => type))]
    return {
      at: session.at / 1000,
      depth,
      oldest: oldestOfTypes(session, types),
      flow: flowOf(flowRows(session), samples),
      ...latenciesOf(samples),
      workers: listWorkers(session),
      server: null,
      schedulesLate: session.get<{ count: number }>(lateSchedules, { at: session.at })?.count ?? 0,
      costRows: null,
      limits
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

function flowRows(session: Session): FlowRows {
  const { at } = session
  return {
    submitted: session.all<FlowCount>(submittedProbe, { at, since: at - minute }),
    finished: session.all<FlowCount>(finishedProbe, { at, since: at - minute }),
    ended: session.all<FlowCount>(endedProbe, { at, since: at - fiveMinutes })
  }
}
