import type { NewTask } from '../../kernel/index.ts'
import { idempotencyHash, payloadHash } from '../idempotency.ts'
import { isNamed, unknownDelays } from '../named-delays.ts'
import { invalidTask, taskBatches, validateNewTask } from '../new-task.ts'
import type { SubmitResult } from '../task-store.ts'
import { readParents, requireParents, startOf, writeDependencies, type Parents } from './dependencies.ts'
import { effectivePolicies } from './policies.ts'
import type { QueueFile, Session } from './queue-file.ts'
import { requireQuotas } from './quotas.ts'
import { toMicroseconds } from './task-rows.ts'

const findByKey = `
SELECT CAST(id AS TEXT) AS id, payload_hash FROM taskdeck_task WHERE idempotency_hash = :hash`

const insertTask = `
INSERT INTO taskdeck_task (
  type, state, priority, run_at, created_at, state_since, deadline_at, owner, title, business_key, partition_key,
  idempotency_hash, payload_hash, payload, timeout_ms, max_attempts, retry_policy, held, waits_for
) VALUES (
  :type, :state, :priority, COALESCE(:runAt, :at), :at, :at, :deadlineAt, :owner, :title, :businessKey, :partitionKey,
  :idempotencyHash, :payloadHash, :payload, :timeoutMs, :maxAttempts, :retryPolicy, :held, :waitsFor
)`

interface Draft {
  readonly task: NewTask
  readonly keyHash: Uint8Array | null
  readonly payloadHash: Uint8Array
}

/** One transaction a batch. Nothing is written when one task of any batch is not valid. */
export async function submit(file: QueueFile, tasks: readonly NewTask[]): Promise<SubmitResult[]> {
  if (tasks.length === 0) return []
  const drafts = tasks.map((task, index) => toDraft(validateNewTask(task, index + 1)))
  if (drafts.some(({ task }) => task.after.length > 0)) await file.read((session) => checkParents(session, drafts))
  if (drafts.some(({ task }) => isNamed(task.retryPolicy))) await file.read((session) => checkDelays(session, drafts))
  const results: SubmitResult[] = []
  for (const batch of taskBatches(drafts)) {
    if (results.length > 0) await file.letOthersRun()
    // The lock is held from the start: a key that was not found stays absent until it is inserted.
    results.push(...(await file.write((session) => submitBatch(session, batch))))
  }
  return results
}

/** Returns the states of the tasks that new ones name. A task that exists is returned whatever it names. */
function checkParents(session: Session, drafts: readonly Draft[]): Parents {
  const dependents = drafts.filter(({ task }) => task.after.length > 0)
  const parents = readParents(
    session,
    dependents.map(({ task }) => task)
  )
  for (const draft of dependents) if (!findKnown(session, draft)) requireParents(draft.task, parents)
  return parents
}

/** As for parents: delays that a task which exists names may be gone. */
function checkDelays(session: Session, drafts: readonly Draft[]): void {
  const { delays } = effectivePolicies(session)
  for (const [index, draft] of drafts.entries()) {
    const reason = unknownDelays(draft.task.retryPolicy, delays)
    if (reason !== undefined && !findKnown(session, draft)) throw invalidTask(index + 1, reason)
  }
}

function submitBatch(session: Session, batch: readonly Draft[]): SubmitResult[] {
  const parents = checkParents(session, batch)
  requireQuotas(
    session,
    newOnes(session, batch).map(({ task }) => task)
  )
  return batch.map((draft) => submitOne(session, draft, parents))
}

/** Without those whose key is known, from before or from this batch. */
function newOnes(session: Session, batch: readonly Draft[]): Draft[] {
  const keys = new Set<string>()
  return batch.filter((draft) => {
    if (draft.keyHash === null) return true
    const key = Buffer.from(draft.keyHash).toString('hex')
    if (keys.has(key)) return false
    keys.add(key)
    return !findKnown(session, draft)
  })
}

const findKnown = (session: Session, { keyHash: hash }: Draft): { id: string; payload_hash: Uint8Array } | undefined =>
  hash === null ? undefined : session.get<{ id: string; payload_hash: Uint8Array }>(findByKey, { hash })

function submitOne(session: Session, draft: Draft, parents: Parents): SubmitResult {
  const { task, keyHash, payloadHash: payload } = draft
  const known = findKnown(session, draft)
  if (known) {
    const same = Buffer.from(known.payload_hash).equals(payload)
    return { status: same ? 'exists' : 'conflict', taskId: known.id }
  }
  const start = startOf(task, parents)
  const { lastInsertRowid } = session.run(insertTask, {
    at: session.at,
    type: task.type,
    state: task.held || start.open > 0 || start.fails ? 'CREATED' : 'QUEUED',
    priority: task.priority,
    runAt: task.runAt === null ? null : toMicroseconds(task.runAt),
    deadlineAt: task.deadlineAt === null ? null : toMicroseconds(task.deadlineAt),
    owner: task.owner,
    title: task.title,
    businessKey: task.businessKey,
    partitionKey: task.partitionKey,
    idempotencyHash: keyHash,
    payloadHash: payload,
    payload: task.payload,
    timeoutMs: task.timeoutMs,
    maxAttempts: task.maxAttempts,
    retryPolicy: task.retryPolicy === null ? null : JSON.stringify(task.retryPolicy),
    held: task.held ? 1 : 0,
    waitsFor: start.open
  })
  const isFailed = task.after.length > 0 && writeDependencies(session, BigInt(lastInsertRowid), task, parents)
  return { status: 'created', taskId: String(lastInsertRowid), ...(isFailed && { isFailed }) }
}

function toDraft(task: NewTask): Draft {
  const { type, owner, idempotencyKey: key, payload } = task
  const keyHash = key === null ? null : idempotencyHash({ type, owner, key })
  return { task, keyHash, payloadHash: payloadHash(payload) }
}
