import {
  AppError,
  isTerminal,
  type AfterFailure,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type SqlValue,
  type TaskState
} from '../../kernel/index.ts'
import { dependencyError, endingLimits, isGoodEnd, stepOfDependent, type DependencyEnd } from '../dependents.ts'
import type { Recovered } from '../task-store.ts'
import { writeDeadLetters } from './dead-letters.ts'
import { longestList } from './held-leases.ts'
import { compareIds, count, text } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'

/*
 * Whoever ends a task releases or fails those that wait for it, in the same transaction as far as the limits go. What is beyond is noted in
 * taskdeck_ending and done in further transactions: at once by the same process, or by the next recovery of any. A dependency is settled
 * only under the lock of the task that ended, and a task's count of open ones changes only under its own lock, so nothing is settled twice
 * and two ends at one moment both count. A task is younger than what it waits for: locks are taken in the order of ids all the way down.
 */

const lockTasks = perLength(
  (length) => `
SELECT id, type, state, held, waits_for, has_dependents FROM taskdeck_task FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) ORDER BY id FOR UPDATE`
)

export const openDependents = perLength(
  (length) => `
SELECT waits_for_id, task_id, after_failure FROM taskdeck_dependency FORCE INDEX (taskdeck_dependency_waits_for)
WHERE waits_for_id IN (${marks(length)}) AND settled = 0 LIMIT ?`
)

/** In the order of the index: behind what earlier steps have settled, whose entries may not be purged yet. */
export const openDependentsAfter = `
SELECT waits_for_id, task_id, after_failure FROM taskdeck_dependency FORCE INDEX (taskdeck_dependency_waits_for)
WHERE waits_for_id = ? AND settled = 0 AND task_id > ? ORDER BY task_id LIMIT ?`

const settleDependencies = perLength(
  (length) => `
UPDATE taskdeck_dependency FORCE INDEX (PRIMARY) SET settled = 1
WHERE task_id IN (${marks(length)}) AND (task_id, waits_for_id) IN (${marks(length, '(?, ?)')})`
)

const keepWaiting = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY) SET waits_for = ? WHERE id IN (${marks(length)}) AND state = 'CREATED'`
)

/** Waiting begins now, unless the due time lies ahead. */
const release = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'QUEUED', state_since = NOW(6), run_at = GREATEST(run_at, NOW(6)), waits_for = 0
WHERE id IN (${marks(length)}) AND state = 'CREATED'`
)

const fail = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'FAILED', state_since = NOW(6), finished_at = NOW(6), error_code = '${dependencyError.code}',
  error_class = '${dependencyError.class}', error_message = '${dependencyError.message}'
WHERE id IN (${marks(length)}) AND state = 'CREATED'`
)

const noteEndings = perLength(
  (length) => `
INSERT INTO taskdeck_ending (task_id, done_up_to) VALUES ${marks(length, '(?, 0)')} ON DUPLICATE KEY UPDATE done_up_to = 0`
)

const findEndings = `SELECT task_id, done_up_to FROM taskdeck_ending ORDER BY task_id LIMIT ${endingLimits.parents}`
const readEndings = perLength(
  (length) => `SELECT task_id, done_up_to FROM taskdeck_ending WHERE task_id IN (${marks(length)})`
)
const moveEnding = 'UPDATE taskdeck_ending SET done_up_to = ? WHERE task_id = ?'
const dropEndings = perLength((length) => `DELETE FROM taskdeck_ending WHERE task_id IN (${marks(length)})`)

/** A task that ended in this transaction and is locked. */
export interface EndedTask {
  readonly taskId: string
  readonly state: TaskState
}

/** What became of tasks that waited for others. */
export interface SettledDependents {
  /** Released and failed ones. */
  readonly changed: readonly Recovered[]
  /** Something is left to `finishSome`. */
  readonly isUnfinished: boolean
}

/** `ended` are those that others wait for. */
export async function settleDependents(runner: SqlRunner, ended: readonly EndedTask[]): Promise<SettledDependents> {
  if (ended.length === 0) return { changed: [], isUnfinished: false }
  const found = await readOpen(runner, idsOf(ended), endingLimits.dependents + 1)
  if (found.length > endingLimits.dependents) {
    await note(runner, idsOf(ended))
    return { changed: [], isUnfinished: true }
  }
  const cascade = new Cascade(runner)
  await cascade.end(ended, found)
  return cascade
}

const idsOf = (tasks: readonly EndedTask[]): string[] => tasks.map(({ taskId }) => taskId)

interface OpenDependency {
  readonly waitsForId: string
  readonly taskId: string
  readonly afterFailure: AfterFailure
}

/** The ends of one transaction, level by level. */
class Cascade {
  private readonly runner: SqlRunner
  readonly changed: Recovered[] = []
  isUnfinished = false

  constructor(runner: SqlRunner) {
    this.runner = runner
  }

  async end(ended: readonly EndedTask[], found: readonly OpenDependency[]): Promise<void> {
    let parents = ended
    let open = found
    let left = endingLimits.dependents
    for (let level = 1; open.length > 0; level++) {
      left -= open.length
      const { failed, youngest } = await this.settleLevel(parents, open)
      if (failed.length === 0) return
      open = await readOpen(this.runner, failed, left + 1)
      const isInOrder = open.every(({ taskId }) => compareIds(taskId, youngest) > 0)
      if (open.length > left || level === endingLimits.levels || !isInOrder) {
        await note(this.runner, failed)
        this.isUnfinished = true
        return
      }
      parents = failed.map((taskId) => ({ taskId, state: 'FAILED' }))
    }
  }

  /** Returns those that failed and have dependents of their own, and the last id that was locked. */
  private async settleLevel(
    parents: readonly EndedTask[],
    open: readonly OpenDependency[]
  ): Promise<{ readonly failed: string[]; readonly youngest: string }> {
    const states = new Map(parents.map(({ taskId, state }) => [taskId, state]))
    const ids = [...new Set(open.map(({ taskId }) => taskId))].sort(compareIds)
    const tasks = await lockAll(this.runner, ids)
    const ends = new Map<string, DependencyEnd[]>()
    for (const { taskId, waitsForId, afterFailure } of open) {
      const isGood = isGoodEnd(states.get(waitsForId) ?? 'FAILED')
      ends.set(taskId, [...(ends.get(taskId) ?? []), { isGood, afterFailure }])
    }
    await this.runPairs(open)
    const released: string[] = []
    const failed: string[] = []
    const waiting = new Map<number, string[]>()
    for (const [taskId, row] of tasks) {
      const step = stepOfDependent(
        { state: stateOf(row), isHeld: count(row, 'held') === 1, waitsFor: count(row, 'waits_for') },
        ends.get(taskId) ?? []
      )
      if (step.does === 'release') released.push(taskId)
      if (step.does === 'fail') failed.push(taskId)
      if (step.does === 'wait') waiting.set(step.left, [...(waiting.get(step.left) ?? []), taskId])
    }
    for (const [leftOver, some] of waiting) await runOn(this.runner, keepWaiting, some, [leftOver])
    await runOn(this.runner, release, released)
    await failDependents(this.runner, failed)
    for (const [some, state] of [[released, 'QUEUED'] as const, [failed, 'FAILED'] as const])
      for (const taskId of some)
        this.changed.push({ taskId, type: text(tasks.get(taskId) ?? {}, 'type'), reason: 'DEPENDENCY', state })
    return {
      failed: failed.filter((taskId) => count(tasks.get(taskId) ?? {}, 'has_dependents') === 1),
      youngest: ids.at(-1) ?? '0'
    }
  }

  private async runPairs(open: readonly OpenDependency[]): Promise<void> {
    for (const chunk of chunksOf(open, longestList)) {
      const pairs = padded(chunk)
      const ids = pairs.map(({ taskId }) => BigInt(taskId))
      const tuples = pairs.flatMap(({ taskId, waitsForId }) => [BigInt(taskId), BigInt(waitsForId)])
      await this.runner.execute(settleDependencies(pairs.length), [...ids, ...tuples])
    }
  }
}

/** Locked tasks in CREATED, because of one that ended badly. */
export async function failDependents(runner: SqlRunner, taskIds: readonly string[]): Promise<void> {
  await runOn(runner, fail, taskIds)
  await writeDeadLetters(runner, taskIds, 'DEPENDENCY')
}

async function runOn(
  runner: SqlRunner,
  statement: (length: number) => string,
  taskIds: readonly string[],
  before: readonly SqlValue[] = []
): Promise<void> {
  for (const chunk of chunksOf(taskIds, longestList)) {
    const ids = padded(chunk.map(BigInt))
    await runner.execute(statement(ids.length), [...before, ...ids])
  }
}

const stateOf = (row: SqlRow): TaskState => text(row, 'state') as TaskState

/** In the order of ids, which is the callers'. */
export async function lockAll(runner: SqlRunner, sortedIds: readonly string[]): Promise<Map<string, SqlRow>> {
  const locked = new Map<string, SqlRow>()
  for (const chunk of chunksOf(sortedIds, longestList)) {
    const ids = padded(chunk.map(BigInt))
    const { rows } = await runner.execute(lockTasks(ids.length), ids)
    for (const row of rows) locked.set(text(row, 'id'), row)
  }
  return locked
}

async function readOpen(runner: SqlRunner, parents: readonly string[], limit: number): Promise<OpenDependency[]> {
  const found: OpenDependency[] = []
  for (const chunk of chunksOf(parents, longestList)) {
    if (found.length >= limit) break
    const ids = padded(chunk.map(BigInt))
    const { rows } = await runner.execute(openDependents(ids.length), [...ids, limit - found.length])
    found.push(...rows.map(toOpen))
  }
  return found
}

const toOpen = (row: SqlRow): OpenDependency => ({
  waitsForId: text(row, 'waits_for_id'),
  taskId: text(row, 'task_id'),
  afterFailure: text(row, 'after_failure') as AfterFailure
})

async function note(runner: SqlRunner, taskIds: readonly string[]): Promise<void> {
  const sorted = [...taskIds].sort(compareIds).map(BigInt)
  for (const chunk of powerChunks(sorted, longestList)) await runner.execute(noteEndings(chunk.length), chunk)
}

/** After the ends of one call: a few more steps at once. What is left, or cannot be done now, is for recovery. */
const stepsAtOnce = 4

/**
 * Follows a transaction that settled some; its outcome is committed, so nothing that goes wrong here may look like its failure. Returns all
 * that changed, what the transaction changed included.
 */
export async function finishSome(database: SqlDatabase, settled: SettledDependents): Promise<Recovered[]> {
  const changed = [...settled.changed]
  if (!settled.isUnfinished) return changed
  try {
    for (let step = 0; step < stepsAtOnce; step++) {
      const more = await endingStep(database)
      if (!more) break
      changed.push(...more)
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'bug') throw error
  }
  return changed
}

/** At most about `limit` dependents of tasks that ended, in steps. */
export async function finishEndings(database: SqlDatabase, limit: number): Promise<Recovered[]> {
  const all: Recovered[] = []
  while (all.length < limit) {
    const step = await endingStep(database, Math.min(endingLimits.dependents, limit - all.length))
    if (!step) break
    all.push(...step)
  }
  return all
}

/** One transaction's share; undefined when nothing is noted. */
async function endingStep(
  database: SqlDatabase,
  limit: number = endingLimits.dependents
): Promise<Recovered[] | undefined> {
  const noted = (await database.execute(findEndings)).rows
  if (noted.length === 0) return undefined
  const parents = noted.map((row) => text(row, 'task_id'))
  // Done twice it finds nothing more to do.
  return database.transaction((runner) => takeStep(runner, parents, limit), {
    readBack: () => Promise.resolve(undefined)
  })
}

async function takeStep(runner: SqlRunner, parents: readonly string[], limit: number): Promise<Recovered[]> {
  const locked = await lockAll(runner, parents)
  const ids = padded(parents.map(BigInt))
  // Under the parents' locks: another process may have gone on with them meanwhile.
  const rows = (await runner.execute(readEndings(ids.length), ids)).rows
  const doneUpTo = new Map(rows.map((row) => [text(row, 'task_id'), text(row, 'done_up_to')]))
  const current = parents.filter((taskId) => doneUpTo.has(taskId))
  // Retried meanwhile: its dependents wait for its next end.
  const ended = current
    .map((taskId) => ({ taskId, state: stateOf(locked.get(taskId) ?? { state: 'CANCELLED' }) }))
    .filter(({ state }) => isTerminal(state))
  const cascade = new Cascade(runner)
  const found = await readOpen(runner, idsOf(ended), limit + 1)
  if (found.length <= limit) {
    await cascade.end(ended, found)
    await runOn(runner, dropEndings, current)
    return cascade.changed
  }
  const [first] = ended
  if (!first) return []
  const values = [BigInt(first.taskId), BigInt(doneUpTo.get(first.taskId) ?? '0'), limit]
  const part = (await runner.execute(openDependentsAfter, values)).rows.map(toOpen)
  await cascade.end([first], part)
  const last = part.at(-1)
  if (last && part.length === limit) await runner.execute(moveEnding, [BigInt(last.taskId), BigInt(first.taskId)])
  else await runOn(runner, dropEndings, [first.taskId])
  return cascade.changed
}
