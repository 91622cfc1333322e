import type { Clock, SqlDatabase, SqlRow, SqlRunner, TaskState } from '../../kernel/index.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { afterDeadline, afterExpiry, deadlinePassed, leaseExpired } from '../overdue.ts'
import type { Recovered } from '../task-store.ts'
import { writeDeadLetters } from './dead-letters.ts'
import { endAttempts, type AttemptEnd } from './end-attempts.ts'
import { settleDependents } from './endings.ts'
import { longestList } from './held-leases.ts'
import { finishEndings } from './noted-endings.ts'
import { effectivePolicies } from './policies.ts'
import { repeatable } from './repeatable.ts'
import { count, text, textOrNull } from './row-values.ts'
import { leased, marks, padded, perLength, underDeadline } from './statement-text.ts'
import { ownTerms } from './task-rows.ts'
import { forgetWorkers } from './workers.ts'

/** Rows of one transaction: it locks them all, and workers may want to end one of them. */
const mostAtOnce = 100

const hasExpired = `lease_until <= NOW(6) AND state IN (${leased})`
const hasPassed = 'waiting_deadline_at <= NOW(6)'

export const expiredLeases = `
SELECT id FROM taskdeck_task FORCE INDEX (taskdeck_task_lease) WHERE ${hasExpired} ORDER BY lease_until LIMIT ?`
export const passedDeadlines = `
SELECT id FROM taskdeck_task FORCE INDEX (taskdeck_task_deadline) WHERE ${hasPassed} ORDER BY waiting_deadline_at LIMIT ?`

/**
 * Tasks that are locked are being ended or renewed by someone: passed over. By their primary key only: a locking read of another index keeps
 * the entries of rows that it passes over, and who has such a row then waits for this transaction.
 */
const lockAvailable = (columns: string, isOverdue: string): ((length: number) => string) =>
  perLength(
    (length) => `
SELECT ${columns} FROM taskdeck_task FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) AND ${isOverdue} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`
  )
const lockExpired = lockAvailable(
  'id, type, state, worker_id, attempt, attempts_used, max_attempts, retry_policy, timeout_ms, has_dependents',
  hasExpired
)
const lockPassed = lockAvailable('id, type, state, has_dependents', hasPassed)

const failLate = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'FAILED', state_since = NOW(6), finished_at = NOW(6), error_code = '${deadlinePassed.code}',
  error_class = '${deadlinePassed.class}', error_message = '${deadlinePassed.message}'
WHERE id IN (${marks(length)}) AND state IN (${underDeadline})`
)

/**
 * At most `limit` deadlines and `limit` leases, in small transactions that see to dependents as far as one may; what they note is taken up
 * last. Deadlines first: a task that loses its lease gets its delay before its deadline is looked at.
 */
export async function recover(database: SqlDatabase, clock: Clock, limit: number): Promise<Recovered[]> {
  // After a lost reply what was recovered is no longer found, what was not is: only the report of it is lost.
  const late = await inParts(limit, (size) => database.transaction((runner) => failPassed(runner, size), repeatable))
  const lost = await inParts(limit, (size) =>
    database.transaction((runner) => recoverLeases(runner, clock, size), repeatable)
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

interface Overdue {
  readonly find: string
  readonly lock: (length: number) => string
  readonly limit: number
}

/** Looks further than `limit`: the first ones may be locked. */
async function lockOverdue(runner: SqlRunner, { find, lock, limit }: Overdue): Promise<readonly SqlRow[]> {
  const found = (await runner.execute(find, [longestList])).rows
  if (found.length === 0) return []
  const ids = padded(found.map((row) => BigInt(text(row, 'id'))))
  return (await runner.execute(lock(ids.length), [...ids, limit])).rows
}

async function recoverLeases(runner: SqlRunner, clock: Clock, limit: number): Promise<RecoveredPart> {
  const rows = await lockOverdue(runner, { find: expiredLeases, lock: lockExpired, limit })
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

function endOf(row: SqlRow, policies: EffectivePolicies, clock: Clock): AttemptEnd {
  const { maxAttempts, retryPolicy: policy } = policies.ofTask(text(row, 'type'), ownTerms(row))
  const attempt = { attemptsUsed: count(row, 'attempts_used'), maxAttempts, policy, random: () => clock.random() }
  return {
    taskId: text(row, 'id'),
    workerId: textOrNull(row, 'worker_id'),
    attempt: count(row, 'attempt'),
    outcome: 'LEASE_EXPIRED',
    ...afterExpiry(text(row, 'state') as TaskState, attempt),
    error: leaseExpired,
    result: null,
    progress: null,
    hasDependents: count(row, 'has_dependents') === 1
  }
}

async function failPassed(runner: SqlRunner, limit: number): Promise<RecoveredPart> {
  const rows = await lockOverdue(runner, { find: passedDeadlines, lock: lockPassed, limit })
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
    state: afterDeadline(text(row, 'state') as TaskState)
  }))
  return { found, dependents }
}
