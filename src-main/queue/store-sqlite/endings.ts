import { AppError, isTerminal, type AfterFailure, type TaskState } from '../../kernel/index.ts'
import { dependencyError, endingLimits, isGoodEnd, stepOfDependent, type DependencyEnd } from '../dependents.ts'
import type { Recovered } from '../task-store.ts'
import { writeDeadLetter } from './deaths.ts'
import type { QueueFile, Session } from './queue-file.ts'

/*
 * Whoever ends a task that others wait for notes it in taskdeck_ending, and takes from there what one transaction may. What is left is
 * done in further transactions: at once by the same process, or by the next recovery of any.
 */

const note = 'INSERT INTO taskdeck_ending (task_id) VALUES (:id) ON CONFLICT DO NOTHING'
const nextEnding = `
SELECT CAST(ending.task_id AS TEXT) AS id, task.state
FROM taskdeck_ending AS ending LEFT JOIN taskdeck_task AS task ON task.id = ending.task_id ORDER BY ending.task_id LIMIT 1`
const drop = 'DELETE FROM taskdeck_ending WHERE task_id = :id'
export const openDependents = `
SELECT CAST(task_id AS TEXT) AS id, after_failure FROM taskdeck_dependency INDEXED BY taskdeck_dependency_waits_for
WHERE waits_for_id = :id AND settled = 0 ORDER BY task_id LIMIT :limit`
const settle = 'UPDATE taskdeck_dependency SET settled = 1 WHERE task_id = :id AND waits_for_id = :parent'
const findTask = 'SELECT type, state, held, waits_for, has_dependents FROM taskdeck_task WHERE id = :id'
const keepWaiting = "UPDATE taskdeck_task SET waits_for = :left WHERE id = :id AND state = 'CREATED'"
/** Waiting begins now, unless the due time lies ahead. */
const release = `
UPDATE taskdeck_task SET state = 'QUEUED', state_since = :at, run_at = MAX(run_at, :at), waits_for = 0
WHERE id = :id AND state = 'CREATED'`
const fail = `
UPDATE taskdeck_task
SET state = 'FAILED', state_since = :at, finished_at = :at, error_code = :code, error_class = :class, error_message = :message
WHERE id = :id AND state = 'CREATED'`

/** The task has just ended in this transaction, and others wait for it. */
export function noteEnding(session: Session, id: bigint): void {
  session.run(note, { id })
}

export const hasEndings = (session: Session): boolean => session.get(nextEnding) !== undefined

interface Dependent {
  readonly type: string
  readonly state: TaskState
  readonly held: number
  readonly waits_for: number
  readonly has_dependents: number
}

/** At most `limit` dependents, in the order of the tasks that they wait for. Returns what it released and failed. */
export function settleDependents(session: Session, limit: number = endingLimits.dependents): Recovered[] {
  const changed: Recovered[] = []
  for (let left = limit; left > 0; left--) {
    const parent = session.get<{ id: string; state: TaskState | null }>(nextEnding)
    if (!parent) break
    const id = BigInt(parent.id)
    const state = parent.state ?? 'CANCELLED'
    // Retried meanwhile: its dependents wait for its next end.
    const open = isTerminal(state)
      ? session.all<{ id: string; after_failure: AfterFailure }>(openDependents, { id, limit: left })
      : []
    for (const dependent of open) {
      session.run(settle, { id: BigInt(dependent.id), parent: id })
      const end = { isGood: isGoodEnd(state), afterFailure: dependent.after_failure }
      const one = advance(session, dependent.id, end)
      if (one) changed.push(one)
    }
    if (open.length < left) session.run(drop, { id })
    left -= open.length
  }
  return changed
}

function advance(session: Session, taskId: string, end: DependencyEnd): Recovered | undefined {
  const id = BigInt(taskId)
  const task = session.get<Dependent>(findTask, { id })
  if (!task) return undefined
  const step = stepOfDependent({ state: task.state, isHeld: task.held === 1, waitsFor: task.waits_for }, [end])
  if (step.does === 'none') return undefined
  if (step.does === 'wait') {
    session.run(keepWaiting, { id, left: step.left })
    return undefined
  }
  if (step.does === 'fail') failDependent(session, id, task.has_dependents === 1)
  else session.run(release, { id, at: session.at })
  return { taskId, type: task.type, reason: 'DEPENDENCY', state: step.does === 'fail' ? 'FAILED' : 'QUEUED' }
}

/** A task in CREATED, because of one that ended badly. */
export function failDependent(session: Session, id: bigint, hasDependents: boolean): void {
  session.run(fail, { id, at: session.at, ...dependencyError })
  writeDeadLetter(session, id, 'DEPENDENCY')
  if (hasDependents) noteEnding(session, id)
}

/** After the ends of one call: a few more steps at once. What is left, or cannot be done now, is for recovery. */
const stepsAtOnce = 4

/**
 * What is noted, in transactions of its own, until `limit` tasks changed or nothing is left. A step that only counts tasks down changes none
 * of them: its empty answer must not look like the end of the work.
 */
export async function finishEndings(file: QueueFile, limit: number): Promise<Recovered[]> {
  const changed: Recovered[] = []
  while (changed.length < limit && (await file.read(hasEndings))) {
    await file.letOthersRun()
    const step = Math.min(endingLimits.dependents, limit - changed.length)
    changed.push(...(await file.write((session) => settleDependents(session, step))))
  }
  return changed
}

/**
 * Follows a transaction whose outcome is committed, so nothing that goes wrong here may look like its failure. Returns what it released and
 * failed.
 */
export async function finishSome(file: QueueFile): Promise<Recovered[]> {
  const changed: Recovered[] = []
  try {
    for (let step = 0; step < stepsAtOnce; step++) {
      if (!(await file.read(hasEndings))) break
      await file.letOthersRun()
      changed.push(...(await file.write((session) => settleDependents(session))))
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'bug') throw error
  }
  return changed
}
