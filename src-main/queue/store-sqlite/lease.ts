import { taskLimits, type Fence } from '../../kernel/index.ts'
import { unknownLeaseMs } from '../retry.ts'
import { storableProgress, truncateUtf8 } from '../stored-text.ts'
import type { LogEntry, ProgressUpdate, Renewal } from '../task-store.ts'
import { checkCheckpoint } from '../worker-values.ts'
import { rowId, type Parameters, type QueueFile, type Session } from './queue-file.ts'
import { holdsFence } from './states.ts'

const renewLease = `
UPDATE taskdeck_task SET lease_until = :at + COALESCE(lease_ms, ${unknownLeaseMs}) * 1000
WHERE ${holdsFence} RETURNING state`

const writeProgress = `
UPDATE taskdeck_task
SET progress_total = CASE WHEN :processed IS NULL THEN progress_total ELSE :total END,
  progress_processed = COALESCE(:processed, progress_processed),
  progress_succeeded = COALESCE(:succeeded, progress_succeeded), progress_failed = COALESCE(:failed, progress_failed),
  progress_skipped = COALESCE(:skipped, progress_skipped), checkpoint = COALESCE(:checkpoint, checkpoint)
WHERE ${holdsFence}`

const writeLogLine = `
INSERT INTO taskdeck_log (task_id, attempt, at, level, message)
SELECT id, attempt, :at, :level, :message FROM taskdeck_task WHERE ${holdsFence}`

const noCounts = { total: null, processed: null, succeeded: null, failed: null, skipped: null }

/** The fence as parameters of `holdsFence`; undefined when no row can have that id. */
export function fenceParameters({ taskId, workerId, attempt }: Fence): Parameters | undefined {
  const id = rowId(taskId)
  return id === undefined ? undefined : { taskId: id, workerId, attempt }
}

export async function renew(file: QueueFile, leases: readonly Fence[]): Promise<Renewal> {
  if (leases.length === 0) return { renewed: [], lost: [], cancelRequested: [] }
  return file.write((session) => {
    const renewed: Fence[] = []
    const lost: Fence[] = []
    const cancelRequested: Fence[] = []
    for (const fence of leases) {
      const held = fenceParameters(fence)
      const row = held && session.get<{ state: string }>(renewLease, { ...held, at: session.at })
      if (!row) lost.push(fence)
      else renewed.push(fence)
      if (row?.state === 'CANCEL_REQUESTED') cancelRequested.push(fence)
    }
    return { renewed, lost, cancelRequested }
  })
}

/** Throws INVALID_INPUT for a checkpoint that cannot be kept, before it writes anything. */
export async function saveProgress(file: QueueFile, updates: readonly ProgressUpdate[]): Promise<Fence[]> {
  if (updates.length === 0) return []
  for (const { checkpoint } of updates) checkCheckpoint(checkpoint)
  return file.write((session) => {
    const refused = updates.filter((update) => !recordProgress(session, update))
    return refused.map(({ fence }) => fence)
  })
}

/** Whether the fence held. */
export function recordProgress(session: Session, { fence, progress, checkpoint }: ProgressUpdate): boolean {
  const held = fenceParameters(fence)
  if (!held) return false
  const counts = progress ? storableProgress(progress) : noCounts
  return session.run(writeProgress, { ...held, ...counts, checkpoint: checkpoint ?? null }).changes === 1
}

export async function appendLog(file: QueueFile, entries: readonly LogEntry[]): Promise<void> {
  if (entries.length === 0) return
  await file.write((session) => {
    for (const { fence, level, message } of entries) {
      const held = fenceParameters(fence)
      if (!held) continue
      const text = truncateUtf8(message, taskLimits.logMessageBytes)
      session.run(writeLogLine, { ...held, at: session.at, level, message: text })
    }
  })
}
