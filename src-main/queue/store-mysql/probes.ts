import { mostFlowRows, taskLimits, type Probe, type ProbeName } from '../../kernel/index.ts'
import { latencySampleSize } from '../reading-figures.ts'
import { perLength } from './statement-text.ts'
import { newestWorkers } from './workers.ts'

/*
 * The statements of a reading. Each walks a bounded part of one index, whose SQL it carries for the case that the index is gone.
 */

/** Tasks that wait or are held, as expected, and are counted in one statement; a longer queue is counted group by group. */
export const mostCountedAtOnce = 20_000
/** Leased tasks that are counted. */
export const mostLeasedCounted = 50_000
/** Late schedules that are counted. */
const mostLateCounted = 1_000

const indexes = {
  claim: 'CREATE INDEX taskdeck_task_claim ON taskdeck_task (claim_rank, type, run_at, id, state)',
  lease: 'CREATE INDEX taskdeck_task_lease ON taskdeck_task (lease_until, state, type, owner)',
  created: 'CREATE INDEX taskdeck_task_created ON taskdeck_task (created_at, type)',
  finished: 'CREATE INDEX taskdeck_task_finished ON taskdeck_task (finished_at, type, owner)',
  ended: 'CREATE INDEX taskdeck_attempt_ended ON taskdeck_attempt (ended_at, outcome, type)',
  heartbeat: 'CREATE INDEX taskdeck_worker_heartbeat ON taskdeck_worker (last_heartbeat_at)',
  next: 'CREATE INDEX taskdeck_schedule_next ON taskdeck_schedule (next_at)'
} as const

const ofTasks = (name: ProbeName, sql: string, index: string): Probe => ({
  name,
  sql,
  tables: ['taskdeck_task'],
  index
})
const ofAttempts = (name: ProbeName, sql: string): Probe => ({
  name,
  sql,
  tables: ['taskdeck_attempt'],
  index: indexes.ended
})

const claimRange = 'FROM taskdeck_task FORCE INDEX (taskdeck_task_claim) WHERE'

/** All waiting and held tasks: only run when the server expects at most `mostCountedAtOnce`. */
export const waitingDepth = ofTasks(
  'depth',
  `
SELECT claim_rank, type, state, COUNT(*) AS n ${claimRange} claim_rank >= 0 GROUP BY claim_rank, type, state`,
  indexes.claim
)

export const leasedDepth = ofTasks(
  'depth',
  `
SELECT type, state, COUNT(*) AS n FROM (
  SELECT type, state FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
  WHERE lease_until IS NOT NULL LIMIT ${mostLeasedCounted + 1}
) AS leased GROUP BY type, state`,
  indexes.lease
)

/** Which priority and type comes first in the claim's index, and which comes next: one dive, however many tasks a group holds. */
export const groupsFor = (name: 'depth' | 'oldest'): { readonly first: Probe; readonly next: Probe } => jumps[name]
const jumpsOf = (name: ProbeName): { readonly first: Probe; readonly next: Probe } => ({
  first: ofTasks(
    name,
    `
SELECT claim_rank, type ${claimRange} claim_rank >= 0 ORDER BY claim_rank, type, run_at, id LIMIT 1`,
    indexes.claim
  ),
  next: ofTasks(
    name,
    `
SELECT claim_rank, type ${claimRange} (claim_rank = ? AND type > ?) OR claim_rank > ?
ORDER BY claim_rank, type, run_at, id LIMIT 1`,
    indexes.claim
  )
})
const jumps = { depth: jumpsOf('depth'), oldest: jumpsOf('oldest') }

/** Only its plan is asked for: how many entries the server expects in each group. Values: rank, type of each. */
export const groupSizes = perLengthProbe('depth', (length) =>
  branches(length, `SELECT 1 ${claimRange} claim_rank = ? AND type = ?`)
)

/** How many of each state each group holds. Values: position, rank, type of each; no task has rank 255. */
export const groupStates = perLengthProbe('depth', (length) =>
  branches(
    length,
    `SELECT ? AS position, state, COUNT(*) AS n ${claimRange} claim_rank = ? AND type = ? GROUP BY state`
  )
)

/** The entry behind so many of a group, if there is one. Walks them, and keeps none. Values: rank, type, how many. */
export const groupBeyond = ofTasks(
  'depth',
  `
SELECT run_at, id ${claimRange} claim_rank = ? AND type = ? ORDER BY run_at, id LIMIT 1 OFFSET ?`,
  indexes.claim
)

/** Entries at the beginning of each stratum of a large group by which its states are told apart. */
export const mostSampled = 1_000
/** Parts of a large group by due time: see `strataOf`. */
export const strata = 12

const stratum = `${claimRange} claim_rank = ? AND type = ? AND run_at >= ? AND run_at < ?`

/**
 * Only its plan is asked for: how many entries the server expects in each stratum, and before an entry whose place is known. Values: rank, type,
 * from, before of each stratum; rank, type, run_at twice and id of the entry.
 */
export const strataSizes = ofTasks(
  'depth',
  `${branches(strata, `SELECT 1 ${stratum}`)}
UNION ALL
SELECT 1 ${claimRange} claim_rank = ? AND type = ? AND (run_at < ? OR (run_at = ? AND id < ?))`,
  indexes.claim
)

/** The states at the beginning of each stratum. Values: position, rank, type, from, before of each. */
export const strataStates = ofTasks(
  'depth',
  branches(
    strata,
    `SELECT ? AS position, state, COUNT(*) AS n FROM (
  SELECT state ${stratum} ORDER BY run_at, id LIMIT ${mostSampled}
) AS beginning GROUP BY state`
  ),
  indexes.claim
)

/**
 * The range of one type and priority in the claim's index, whose first entry is the longest due. A zero date has no age. Values: rank, type of
 * each.
 */
export const oldestOfGroups = perLengthProbe('oldest', (length) =>
  branches(
    length,
    `(SELECT id, type, TIMESTAMPDIFF(MICROSECOND, run_at, NOW(6)) AS age_us
  ${claimRange} claim_rank = ? AND type = ? AND run_at >= '1970-01-01' AND run_at <= NOW(6) ORDER BY run_at, id LIMIT 1)`
  )
)

/** Windows of the newest rows, by type: how many, and the microseconds that they span. */
const flow = (table: string, column: string, minutes: number, outcome: string): string => `
SELECT type, outcome, COUNT(*) AS n, MAX(reached) AS reached FROM (
  SELECT type, ${outcome} AS outcome, TIMESTAMPDIFF(MICROSECOND, ${column}, NOW(6)) AS reached
  FROM ${table} WHERE ${column} > NOW(6) - INTERVAL ${minutes} MINUTE
  ORDER BY ${column} DESC LIMIT ${mostFlowRows}
) AS newest GROUP BY type, outcome`

export const submitted = ofTasks(
  'submitted',
  flow('taskdeck_task FORCE INDEX (taskdeck_task_created)', 'created_at', 1, "''"),
  indexes.created
)
export const finished = ofTasks(
  'finished',
  flow('taskdeck_task FORCE INDEX (taskdeck_task_finished)', 'finished_at', 1, "''"),
  indexes.finished
)
export const ended = ofAttempts(
  'ended',
  flow('taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)', 'ended_at', 5, 'outcome')
)

/** A hand-back ran nothing. Types are told apart afterwards: one statement, whatever their number. */
export const newestAttempts = ofAttempts(
  'durations',
  `
SELECT type, TIMESTAMPDIFF(MICROSECOND, started_at, ended_at) AS duration_us,
  TIMESTAMPDIFF(MICROSECOND, due_at, started_at) AS pickup_us
FROM taskdeck_attempt FORCE INDEX (taskdeck_attempt_ended)
WHERE ended_at > NOW(6) - INTERVAL 5 MINUTE AND outcome <> 'HANDED_BACK' ORDER BY ended_at DESC LIMIT ${latencySampleSize}`
)

export const workers: Probe = {
  name: 'workers',
  sql: newestWorkers,
  tables: ['taskdeck_worker'],
  index: indexes.heartbeat
}

/** A disabled schedule has no next tick. */
export const lateSchedules: Probe = {
  name: 'schedules',
  sql: `
SELECT COUNT(*) AS n FROM (
  SELECT 1 FROM taskdeck_schedule FORCE INDEX (taskdeck_schedule_next)
  WHERE next_at < NOW(6) - INTERVAL 60 SECOND AND enabled = 1 LIMIT ${mostLateCounted}
) AS late`,
  tables: ['taskdeck_schedule'],
  index: indexes.next
}

/** Ranks of tasks that a claim would take; held ones have higher ranks. */
export const isClaimable = (rank: number): boolean => rank < taskLimits.priorities

function branches(length: number, branch: string): string {
  return Array.from({ length }, () => branch).join('\nUNION ALL\n')
}

function perLengthProbe(name: ProbeName, build: (length: number) => string): (length: number) => Probe {
  const text = perLength(build)
  return (length) => ofTasks(name, text(length), indexes.claim)
}
