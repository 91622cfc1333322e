import { type AfterFailure, type SqlRow, type SqlRunner, type SqlValue, type TaskState } from '../../kernel/index.ts'
import { dependencyError, endingLimits, isGoodEnd, stepOfDependent, type DependencyEnd } from '../dependents.ts'
import type { Recovered } from '../task-store.ts'
import { writeDeadLetters } from './dead-letters.ts'
import { longestList } from './held-leases.ts'
import { compareIds, count, text } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'
import { greatestId, lockBehind } from './task-locks.ts'

/*
 * Whoever ends a task releases or fails those that wait for it, in the same transaction as far as the limits go. What is beyond is noted in
 * taskdeck_ending and done in further transactions: at once by the same process, or by the next recovery of any. A dependency is settled
 * only under the lock of the task that ended, and a task's count of open ones changes only under its own lock, so nothing is settled twice
 * and two ends at one moment both count. Locks are taken in the order of ids (decision 0011).
 */

export const openDependents = perLength(
  (length) => `
SELECT waits_for_id, task_id, after_failure FROM taskdeck_dependency FORCE INDEX (taskdeck_dependency_waits_for)
WHERE waits_for_id IN (${marks(length)}) AND settled = 0 LIMIT ?`
)

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

/** A task that ended in this transaction and is locked. */
export interface EndedTask {
  readonly taskId: string
  readonly state: TaskState
}

/** What became of tasks that waited for others. */
export interface SettledDependents {
  /** Released and failed ones. */
  readonly changed: readonly Recovered[]
  /** Something is left to `finishSome` (noted-endings.ts). */
  readonly isUnfinished: boolean
}

/** `ended` are those that others wait for, `locked` all tasks that the transaction has locked. */
export async function settleDependents(
  runner: SqlRunner,
  ended: readonly EndedTask[],
  locked: Iterable<string>
): Promise<SettledDependents> {
  if (ended.length === 0) return { changed: [], isUnfinished: false }
  const found = await readOpen(runner, idsOf(ended), endingLimits.dependents + 1)
  const cascade = new Cascade(runner, greatestId(locked))
  if (found.length <= endingLimits.dependents && (await cascade.end(ended, found))) return cascade
  await note(runner, idsOf(ended))
  return { changed: [], isUnfinished: true }
}

export const idsOf = (tasks: readonly EndedTask[]): string[] => tasks.map(({ taskId }) => taskId)

export interface OpenDependency {
  readonly waitsForId: string
  readonly taskId: string
  readonly afterFailure: AfterFailure
}

/** The ends of one transaction, level by level. */
export class Cascade {
  private readonly runner: SqlRunner
  private heldUpTo: string
  readonly changed: Recovered[] = []
  isUnfinished = false

  /** `heldUpTo`: the greatest id that the transaction has locked. */
  constructor(runner: SqlRunner, heldUpTo: string) {
    this.runner = runner
    this.heldUpTo = heldUpTo
  }

  /** False when nothing was done: someone else has a dependent whose turn in the order of locks is over. */
  async end(ended: readonly EndedTask[], found: readonly OpenDependency[]): Promise<boolean> {
    let parents = ended
    let open = found
    let left = endingLimits.dependents
    let tasks = await this.lock(open)
    if (!tasks) return false
    for (let level = 1; ; level++) {
      left -= open.length
      const failed = await this.settleLevel(parents, open, tasks)
      open = await readOpen(this.runner, failed, left + 1)
      if (open.length === 0) return true
      tasks = open.length > left || level === endingLimits.levels ? undefined : await this.lock(open)
      if (!tasks) {
        await note(this.runner, failed)
        this.isUnfinished = true
        return true
      }
      parents = failed.map((taskId) => ({ taskId, state: 'FAILED' }))
    }
  }

  private async lock(open: readonly OpenDependency[]): Promise<Map<string, SqlRow> | undefined> {
    const ids = [...new Set(open.map(({ taskId }) => taskId))].sort(compareIds)
    const tasks = await lockBehind(this.runner, ids, this.heldUpTo)
    this.heldUpTo = greatestId([this.heldUpTo, ...ids])
    return tasks
  }

  /** Returns those that failed and have dependents of their own. */
  private async settleLevel(
    parents: readonly EndedTask[],
    open: readonly OpenDependency[],
    tasks: ReadonlyMap<string, SqlRow>
  ): Promise<string[]> {
    const states = new Map(parents.map(({ taskId, state }) => [taskId, state]))
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
    return failed.filter((taskId) => count(tasks.get(taskId) ?? {}, 'has_dependents') === 1)
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

export async function runOn(
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

export const stateOf = (row: SqlRow): TaskState => text(row, 'state') as TaskState

export async function readOpen(
  runner: SqlRunner,
  parents: readonly string[],
  limit: number
): Promise<OpenDependency[]> {
  const found: OpenDependency[] = []
  for (const chunk of chunksOf(parents, longestList)) {
    if (found.length >= limit) break
    const ids = padded(chunk.map(BigInt))
    const { rows } = await runner.execute(openDependents(ids.length), [...ids, limit - found.length])
    found.push(...rows.map(toOpen))
  }
  return found
}

export const toOpen = (row: SqlRow): OpenDependency => ({
  waitsForId: text(row, 'waits_for_id'),
  taskId: text(row, 'task_id'),
  afterFailure: text(row, 'after_failure') as AfterFailure
})

async function note(runner: SqlRunner, taskIds: readonly string[]): Promise<void> {
  const sorted = [...taskIds].sort(compareIds).map(BigInt)
  for (const chunk of powerChunks(sorted, longestList)) await runner.execute(noteEndings(chunk.length), chunk)
}
