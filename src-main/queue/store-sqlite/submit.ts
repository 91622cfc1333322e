import { taskLimits, type NewTask } from '../../kernel/index.ts'
import { idempotencyHash, payloadHash } from '../idempotency.ts'
import { validateNewTask } from '../new-task.ts'
import type { SubmitResult } from '../task-store.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { toMicroseconds } from './task-rows.ts'

const findByKey = `
SELECT CAST(id AS TEXT) AS id, payload_hash FROM taskdeck_task WHERE idempotency_hash = :hash`

const insertTask = `
INSERT INTO taskdeck_task (
  type, state, priority, run_at, created_at, state_since, deadline_at, owner, title, business_key, partition_key,
  idempotency_hash, payload_hash, payload, timeout_ms, max_attempts, retry_policy
) VALUES (
  :type, :state, :priority, COALESCE(:runAt, :at), :at, :at, :deadlineAt, :owner, :title, :businessKey, :partitionKey,
  :idempotencyHash, :payloadHash, :payload, :timeoutMs, :maxAttempts, :retryPolicy
)`

/** One transaction a batch. Nothing is written when one task of any batch is not valid. */
export async function submit(file: QueueFile, tasks: readonly NewTask[]): Promise<SubmitResult[]> {
  const valid = tasks.map((task, index) => validateNewTask(task, index + 1))
  const results: SubmitResult[] = []
  for (let start = 0; start < valid.length; start += taskLimits.submitBatch) {
    const batch = valid.slice(start, start + taskLimits.submitBatch)
    // The lock is held from the start: a key that was not found stays absent until it is inserted.
    results.push(...(await file.write((session) => batch.map((task) => submitOne(session, task)))))
  }
  return results
}

function submitOne(session: Session, task: NewTask): SubmitResult {
  const { type, owner, idempotencyKey: key } = task
  const hash = key === null ? null : idempotencyHash({ type, owner, key })
  const payload = payloadHash(task.payload)
  const known = hash && session.get<{ id: string; payload_hash: Uint8Array }>(findByKey, { hash })
  if (known) {
    const same = Buffer.from(known.payload_hash).equals(payload)
    return { status: same ? 'exists' : 'conflict', taskId: known.id }
  }
  const { lastInsertRowid } = session.run(insertTask, {
    at: session.at,
    type,
    state: task.held ? 'CREATED' : 'QUEUED',
    priority: task.priority,
    runAt: task.runAt === null ? null : toMicroseconds(task.runAt),
    deadlineAt: task.deadlineAt === null ? null : toMicroseconds(task.deadlineAt),
    owner,
    title: task.title,
    businessKey: task.businessKey,
    partitionKey: task.partitionKey,
    idempotencyHash: hash,
    payloadHash: payload,
    payload: task.payload,
    timeoutMs: task.timeoutMs,
    maxAttempts: task.maxAttempts,
    retryPolicy: JSON.stringify(task.retryPolicy)
  })
  return { status: 'created', taskId: String(lastInsertRowid) }
}
