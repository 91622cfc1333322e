import { taskLimits, type Fence, type SqlDatabase, type SqlRunner, type TaskState } from '../../kernel/index.ts'
import { unknownLeaseMs } from '../retry.ts'
import { storableProgress, truncateUtf8 } from '../stored-text.ts'
import type { LogEntry, ProgressUpdate, Renewal } from '../task-store.ts'
import { checkCheckpoint } from '../worker-values.ts'
import { jsonBatches } from './end-attempts.ts'
import { holds, lockTasksOf, longestList } from './held-leases.ts'
import { repeatable } from './repeatable.ts'
import { count, rowId, text } from './row-values.ts'
import { chunksOf, leased, marks, padded, perLength } from './statement-text.ts'

/** The tuples are two or more (`padded`): one alone would be a full scan, with its locks. */
const renewLeases = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET lease_until = NOW(6) + INTERVAL COALESCE(lease_ms, ${unknownLeaseMs}) * 1000 MICROSECOND
WHERE id IN (${marks(length)}) AND (id, attempt) IN (${marks(length, '(?, ?)')}) AND worker_id = ?
  AND state IN (${leased})`
)

/** Attempts only grow, so a fence that holds now held when the UPDATE ran. */
const heldLeases = perLength(
  (length) => `
SELECT id, attempt, state FROM taskdeck_task FORCE INDEX (PRIMARY)
WHERE id IN (${marks(length)}) AND worker_id = ? AND state IN (${leased})`
)

/** The comparison of bytes needs no common collation. */
export const storeProgress = `
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id', attempt INT UNSIGNED PATH '$.attempt', worker VARCHAR(100) PATH '$.worker',
  total BIGINT UNSIGNED PATH '$.total', processed BIGINT UNSIGNED PATH '$.processed',
  succeeded BIGINT UNSIGNED PATH '$.succeeded', failed BIGINT UNSIGNED PATH '$.failed',
  skipped BIGINT UNSIGNED PATH '$.skipped', checkpoint MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$.checkpoint'
)) AS reported STRAIGHT_JOIN taskdeck_task AS task FORCE INDEX (PRIMARY) ON task.id = reported.id
SET task.progress_total = CASE WHEN reported.processed IS NULL THEN task.progress_total ELSE reported.total END,
  task.progress_processed = COALESCE(reported.processed, task.progress_processed),
  task.progress_succeeded = COALESCE(reported.succeeded, task.progress_succeeded),
  task.progress_failed = COALESCE(reported.failed, task.progress_failed),
  task.progress_skipped = COALESCE(reported.skipped, task.progress_skipped), task.checkpoint = COALESCE(reported.checkpoint, task.checkpoint)
WHERE task.attempt = reported.attempt AND CAST(task.worker_id AS BINARY) = CAST(reported.worker AS BINARY)
  AND task.state IN (${leased})`

/** The comparison of bytes needs no common collation. */
const addLines = `
INSERT INTO taskdeck_log (task_id, attempt, at, level, message)
SELECT task.id, task.attempt, NOW(6), line.level, line.message
FROM JSON_TABLE(?, '$[*]' COLUMNS (
  position FOR ORDINALITY, id BIGINT UNSIGNED PATH '$.id', attempt INT UNSIGNED PATH '$.attempt',
  worker VARCHAR(100) PATH '$.worker', level VARCHAR(8) PATH '$.level', message TEXT CHARACTER SET utf8mb4 PATH '$.message'
)) AS line STRAIGHT_JOIN taskdeck_task AS task FORCE INDEX (PRIMARY) ON task.id = line.id
WHERE task.attempt = line.attempt AND CAST(task.worker_id AS BINARY) = CAST(line.worker AS BINARY)
  AND task.state IN (${leased})
ORDER BY line.position`

/** Each for as long again as its claim gave; one UPDATE for each worker named (in practice one). */
export async function renew(database: SqlDatabase, leases: readonly Fence[]): Promise<Renewal> {
  const states = new Map<string, TaskState>()
  for (const workerId of new Set(leases.map((fence) => fence.workerId))) {
    const ofWorker = leases.filter((fence) => fence.workerId === workerId && rowId(fence.taskId) !== undefined)
    for (const chunk of chunksOf(ofWorker, longestList))
      for (const [key, state] of await renewChunk(database, chunk)) states.set(key, state)
  }
  const renewed = leases.filter((fence) => states.has(fenceKey(fence)))
  return {
    renewed,
    lost: leases.filter((fence) => !states.has(fenceKey(fence))),
    cancelRequested: renewed.filter((fence) => states.get(fenceKey(fence)) === 'CANCEL_REQUESTED')
  }
}

async function renewChunk(database: SqlDatabase, fences: readonly Fence[]): Promise<Map<string, TaskState>> {
  const list = padded(fences)
  const workerId = list[0]?.workerId ?? ''
  const ids = list.map((fence) => BigInt(fence.taskId))
  const tuples = list.flatMap((fence) => [BigInt(fence.taskId), fence.attempt])
  const work = async (runner: SqlRunner): Promise<Map<string, TaskState>> => {
    await runner.execute(renewLeases(list.length), [...ids, ...tuples, workerId])
    const { rows } = await runner.execute(heldLeases(list.length), [...ids, workerId])
    return new Map(
      rows.map((row) => [
        fenceKey({ taskId: text(row, 'id'), workerId, attempt: count(row, 'attempt') }),
        text(row, 'state') as TaskState
      ])
    )
  }
  // Renewing twice does no harm.
  return database.transaction(work, repeatable)
}

const fenceKey = (fence: Fence): string => `${fence.taskId}/${fence.attempt}/${fence.workerId}`

/**
 * Returns the refused fences. A later update of the same fence in one call wins. Throws INVALID_INPUT for a checkpoint over the
 * limit, before it writes anything.
 */
export async function saveProgress(database: SqlDatabase, updates: readonly ProgressUpdate[]): Promise<Fence[]> {
  if (updates.length === 0) return []
  for (const { checkpoint } of updates) checkCheckpoint(checkpoint)
  const work = async (runner: SqlRunner): Promise<Fence[]> => {
    const fences = updates.map(({ fence }) => fence)
    const tasks = await lockTasksOf(runner, fences)
    const held = new Map<string, ProgressUpdate>()
    for (const update of updates) {
      const { taskId } = update.fence
      if (!holds(tasks.get(taskId), update.fence)) continue
      const earlier = held.get(taskId)
      const { progress = earlier?.progress, checkpoint = earlier?.checkpoint } = update
      held.set(taskId, { fence: update.fence, progress, checkpoint })
    }
    const rows = [...held.values()].map(({ fence, progress, checkpoint }) => ({
      id: fence.taskId,
      attempt: fence.attempt,
      worker: fence.workerId,
      ...(progress && storableProgress(progress)),
      checkpoint: checkpoint ?? null
    }))
    for (const { json } of jsonBatches(rows)) await runner.execute(storeProgress, [json])
    return fences.filter((fence) => !holds(tasks.get(fence.taskId), fence))
  }
  return database.transaction(work, repeatable)
}

/** A lost reply to the commit is not asked back: a line that is there twice is worse than an error that says so. */
export async function appendLog(database: SqlDatabase, entries: readonly LogEntry[]): Promise<void> {
  const rows = entries
    .filter(({ fence }) => rowId(fence.taskId) !== undefined)
    .map(({ fence, level, message }) => ({
      id: fence.taskId,
      attempt: fence.attempt,
      worker: fence.workerId,
      level,
      message: truncateUtf8(message, taskLimits.logMessageBytes)
    }))
  const batches = jsonBatches(rows)
  if (batches.length === 0) return
  await database.transaction(async (runner) => {
    for (const { json } of batches) await runner.execute(addLines, [json])
  })
}
