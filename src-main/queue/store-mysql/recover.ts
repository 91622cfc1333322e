import {
  nextState,
  type AttemptError,
  type Clock,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type TaskState
} from '../../kernel/index.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { decideRetry } from '../retry.ts'
import type { Recovered } from '../task-store.ts'
import { writeDeadLetters } from './dead-letters.ts'
import { endAttempts, type AttemptEnd } from './end-attempts.ts'
import { settleDependents } from './endings.ts'
import { finishEndings } from './noted-endings.ts'
import { effectivePolicies } from './policies.ts'
import { count, text, textOrNull } from './row-values.ts'
import { leased, marks, padded, perLength, underDeadline } from './statement-text.ts'
import { ownTerms } from './task-rows.ts'
import { forgetWorkers } from './workers.ts'

/** Rows of one transaction: it locks them all, and workers may want to end one of them. */
const mostAtOnce = 100

/** Locked rows are being ended or renewed by someone: passed over. */
export const expiredLeases = `
SELECT id, type, state, worker_id, attempt, attempts_used, max_attempts, retry_policy, timeout_ms, has_dependents
FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
WHERE lease_until <= NOW(6) AND state IN (${leased}) ORDER BY lease_until LIMIT ? FOR UPDATE SKIP LOCKED`

export const passedDeadlines = `
SELECT id, type, state, has_dependents FROM taskdeck_task FORCE INDEX (taskdeck_task_deadline)
WHERE waiting_deadline_at <= NOW(6) ORDER BY waiting_deadline_at LIMIT ? FOR UPDATE SKIP LOCKED`

const failLate = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'FAILED', state_since = NOW(6), finished_at = NOW(6), error_code = 'DEADLINE', error_class = 'final',
  error_message = 'The deadline passed before a worker took the task.'
WHERE id IN (${marks(length)}) AND state IN (${underDeadline})`
)

const leaseExpired: AttemptError = {
  code: 'LEASE_EXPIRED',
  message: 'The worker did not renew its lease in time: it was stopped, crashed, or lost the database.',
  class: 'retryable'
}

/**
 * At most `limit` of each kind, in small transactions; dependents last, after all ends. Deadlines first: a task that loses its lease gets its delay before its deadline
 * is looked at.
 */
export async function recover(database: SqlDatabase, clock: Clock, limit: number): Promise<Recovered[]> {
  const late = await inParts(limit, (size) => database.transaction((runner) => failPassed(runner, size), again))
  const lost = await inParts(limit, (size) =>
    database.transaction((runner) => recoverLeases(runner, clock, size), again)
  )
  const released = await finishEndings(database, limit)
  await forgetWorkers(database)
  return [...lost, ...late, ...released]
}

/** One transaction's: the tasks that it looked for, and what else changed by their ends. */
interface RecoveredPart {
  readonly found: readonly Recovered[]
  readonly dependents: readonly Recovered[]
}

/** After a lost reply: what was recovered is no longer found, what was not is. Only the report of it is lost. */
const again = { readBack: () => Promise.resolve(undefined) }

async function inParts(limit: number, part: (size: number) => Promise<RecoveredPart>): Promise<Recovered[]> {
  const all: Recovered[] = []
  for (let left = limit; left > 0;) {
    const size = Math.min(mostAtOnce, left)
    const { found, dependents } = await part(size)
    all.push(...found, ...dependents)
    if (found.length < size) break
    left -= found.length
  }
  return all
}

async function recoverLeases(runner: SqlRunner, clock: Clock, limit: number): Promise<RecoveredPart> {
  const { rows } = await runner.execute(expiredLeases, [limit])
  const policies = rows.length === 0 ? EffectivePolicies.none : await effectivePolicies(runner)
  const ends = rows.map((row) => endOf(row, policies, clock))
  const typeOf = new Map(rows.map((row) => [text(row, 'id'), text(row, 'type')]))
  const { changed: dependents } = await endAttempts(runner, ends, { policies, clock, typeOf })
  const recovered = ends.map(({ taskId, state }): Recovered => ({
    taskId,
    type: typeOf.get(taskId) ?? '',
    reason: 'LEASE_EXPIRED',
    state
  }))
  return { found: recovered, dependents }
}

/** As if the worker had reported a retryable failure: asked to stop ends cancelled, used-up attempts end failed. */
function endOf(row: SqlRow, policies: EffectivePolicies, clock: Clock): AttemptEnd {
  const { maxAttempts, retryPolicy } = policies.ofTask(text(row, 'type'), ownTerms(row))
  const decision = decideRetry({
    error: leaseExpired,
    attemptsUsed: count(row, 'attempts_used'),
    maxAttempts,
    policy: retryPolicy,
    random: () => clock.random()
  })
  const from = text(row, 'state') as TaskState
  const cancelled = nextState(from, 'acknowledgeCancel')
  const state = cancelled ?? (decision.outcome === 'RETRY' ? nextState(from, 'retryLater') : nextState(from, 'fail'))
  return {
    taskId: text(row, 'id'),
    workerId: textOrNull(row, 'worker_id'),
    attempt: count(row, 'attempt'),
    outcome: 'LEASE_EXPIRED',
    state: state ?? 'FAILED',
    delayMs: decision.outcome === 'RETRY' && state === 'RETRY_WAIT' ? decision.delayMs : null,
    error: leaseExpired,
    result: null,
    progress: null,
    hasDependents: count(row, 'has_dependents') === 1
  }
}

async function failPassed(runner: SqlRunner, limit: number): Promise<RecoveredPart> {
  const { rows } = await runner.execute(passedDeadlines, [limit])
  if (rows.length === 0) return { found: [], dependents: [] }
  const ids = padded(rows.map((row) => BigInt(text(row, 'id'))))
  await runner.execute(failLate(ids.length), ids)
  const late = rows.map((row) => text(row, 'id'))
  await writeDeadLetters(runner, late, 'DEADLINE')
  const waitedFor = rows.filter((row) => count(row, 'has_dependents') === 1)
  const { changed: dependents } = await settleDependents(
    runner,
    waitedFor.map((row) => ({ taskId: text(row, 'id'), state: 'FAILED' })),
    late
  )
  const found = rows.map((row): Recovered => ({
    taskId: text(row, 'id'),
    type: text(row, 'type'),
    reason: 'DEADLINE',
    state: nextState(text(row, 'state') as TaskState, 'passDeadline') ?? 'FAILED'
  }))
  return { found, dependents }
}
