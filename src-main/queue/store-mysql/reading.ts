import {
  taskLimits,
  type Clock,
  type Percentiles,
  type QueueReading,
  type SqlDatabase,
  type SqlRow,
  type TaskState,
  type TypeFlow
} from '../../kernel/index.ts'
import { FlowWindow, latencySampleSize, mostFlowRows, percentilesOf, type FlowCount } from '../reading-figures.ts'
import { count, countOrNull, text, time } from './row-values.ts'
import { newestWorkers, toWorker } from './workers.ts'

/** Types times priorities whose oldest task is looked up. */
const mostOldestGroups = 300

export const waitingDepth = `
SELECT claim_rank, type, state, COUNT(*) AS n FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE claim_rank >= 0 GROUP BY claim_rank, type, state`

export const leasedDepth = `
SELECT type, state, COUNT(*) AS n FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
WHERE lease_until IS NOT NULL GROUP BY type, state`

/** The range of one type and priority in the claim's index, whose first entry is the longest due. A zero date has no age. */
export const oldestOfGroup = `
SELECT id, run_at, TIMESTAMPDIFF(MICROSECOND, run_at, NOW(6)) AS age_us
FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE claim_rank = ? AND type = ? AND run_at >= '1970-01-01' AND run_at <= NOW(6)
ORDER BY claim_rank, type, run_at, id LIMIT 1`

/** Windows of the newest rows, by type: how many, and the microseconds that they span. */
const flowProbe = (table: string, column: string, minutes: number, outcome: string): string => `
SELECT type, outcome, COUNT(*) AS n, MAX(reached) AS reached FROM (
  SELECT type, ${outcome} AS outcome, TIMESTAMPDIFF(MICROSECOND, ${column}, NOW(6)) AS reached
  FROM ${table} WHERE ${column} > NOW(6) - INTERVAL ${minutes} MINUTE
  ORDER BY ${column} DESC LIMIT ${mostFlowRows}
) AS newest GROUP BY type, outcome`

export const submittedProbe = flowProbe('taskdeck_task FORCE INDEX (taskdeck_task_created)', 'created_at', 1, "''")
export const finishedProbe = flowProbe('taskdeck_task FORCE INDEX (taskdeck_task_finished)', 'finished_at', 1, "''")
export const endedProbe = flowProbe('taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)', 'ended_at', 5, 'outcome')

/** A hand-back ran nothing. Types are told apart afterwards: one statement, whatever their number. */
export const newestAttempts = `
SELECT type, TIMESTAMPDIFF(MICROSECOND, started_at, ended_at) AS duration_us,
  TIMESTAMPDIFF(MICROSECOND, due_at, started_at) AS pickup_us
FROM taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)
WHERE ended_at > NOW(6) - INTERVAL 5 MINUTE AND outcome <> 'HANDED_BACK' ORDER BY ended_at DESC LIMIT ${latencySampleSize}`

/** Statements of their own on READ COMMITTED: each sees its own moment, and none keeps old row versions alive for the next. */
export async function readQueue(database: SqlDatabase, clock: Clock): Promise<QueueReading> {
  const began = clock.monotonic()
  const rowsOf = async (sql: string): Promise<readonly SqlRow[]> => (await database.execute(sql)).rows
  const [now] = await rowsOf('SELECT NOW(6) AS now')
  const waiting = await rowsOf(waitingDepth)
  const depth = toDepth([...waiting, ...(await rowsOf(leasedDepth))])
  const samples = (await rowsOf(newestAttempts)).flatMap(toSample)
  const flow = {
    submitted: new FlowWindow((await rowsOf(submittedProbe)).map(toFlowCount), 1),
    finished: new FlowWindow((await rowsOf(finishedProbe)).map(toFlowCount), 1),
    ended: new FlowWindow((await rowsOf(endedProbe)).map(toFlowCount), 5)
  }
  return {
    at: time(now ?? {}, 'now'),
    depth,
    oldest: await oldestOfTypes(database, waiting),
    flow: toFlow(flow, samples),
    ...latencies(samples),
    workers: (await rowsOf(newestWorkers)).map(toWorker),
    server: null,
    schedulesLate: null,
    costMs: clock.monotonic() - began,
    costRows: null,
    limits: []
  }
}

/** The probe's rows are also told apart by priority. */
function toDepth(rows: readonly SqlRow[]): QueueReading['depth'] {
  const depth = new Map<string, QueueReading['depth'][number]>()
  for (const row of rows) {
    const [type, state] = [text(row, 'type'), text(row, 'state') as TaskState]
    const key = `${state} ${type}`
    depth.set(key, { type, state, count: (depth.get(key)?.count ?? 0) + count(row, 'n') })
  }
  return [...depth.values()]
}

/** One dive into the index for each type and priority that has waiting tasks. */
async function oldestOfTypes(database: SqlDatabase, waiting: readonly SqlRow[]): Promise<QueueReading['oldest']> {
  const due = waiting.filter((row) => count(row, 'claim_rank') < taskLimits.priorities)
  const groups = new Map(due.map((row) => [`${text(row, 'claim_rank')} ${text(row, 'type')}`, row]))
  const oldest = new Map<string, QueueReading['oldest'][number]>()
  for (const group of [...groups.values()].slice(0, mostOldestGroups)) {
    const type = text(group, 'type')
    const [row] = (await database.execute(oldestOfGroup, [count(group, 'claim_rank'), type])).rows
    if (!row) continue
    const ageMs = (countOrNull(row, 'age_us') ?? 0) / 1000
    if (ageMs >= (oldest.get(type)?.ageMs ?? 0)) oldest.set(type, { type, taskId: text(row, 'id'), ageMs })
  }
  return [...oldest.values()].sort((a, b) => b.ageMs - a.ageMs)
}

/** What a flow probe returned. */
const toFlowCount = (row: SqlRow): FlowCount => ({
  type: text(row, 'type'),
  outcome: text(row, 'outcome'),
  count: count(row, 'n'),
  reachedMs: count(row, 'reached') / 1000
})

interface Flows {
  readonly submitted: FlowWindow
  readonly finished: FlowWindow
  readonly ended: FlowWindow
}

function toFlow({ submitted, finished, ended }: Flows, samples: readonly Sample[]): TypeFlow[] {
  const flows = [...new Set([...submitted.types, ...finished.types, ...ended.types])].sort().map((type) => ({
    type,
    submitted1m: submitted.count(type),
    finished1m: finished.count(type),
    ended5m: ended.count(type, (outcome) => outcome !== 'HANDED_BACK'),
    failed5m: ended.count(type, (outcome) => outcome === 'FAILED'),
    retried5m: ended.count(type, (outcome) => outcome === 'RETRY'),
    recovered5m: ended.count(type, (outcome) => outcome === 'LEASE_EXPIRED'),
    ...latencies(samples.filter((sample) => sample.type === type))
  }))
  return flows.filter(({ submitted1m, finished1m, ended5m }) => submitted1m + finished1m + ended5m > 0)
}

interface Sample {
  readonly type: string
  readonly durationMs: number
  readonly pickupMs: number
}

/** None for an attempt with a zero date, whose times are unknown. */
function toSample(row: SqlRow): Sample[] {
  const [durationUs, pickupUs] = [countOrNull(row, 'duration_us'), countOrNull(row, 'pickup_us')]
  if (durationUs === null || pickupUs === null) return []
  return [{ type: text(row, 'type'), durationMs: durationUs / 1000, pickupMs: pickupUs / 1000 }]
}

function latencies(samples: readonly Sample[]): { duration: Percentiles | null; pickup: Percentiles | null } {
  return {
    duration: percentilesOf(samples.map(({ durationMs }) => durationMs)),
    pickup: percentilesOf(samples.map(({ pickupMs }) => pickupMs))
  }
}
