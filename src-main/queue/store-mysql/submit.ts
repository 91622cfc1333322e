import { randomBytes } from 'node:crypto'
import { taskLimits, type NewTask, type SqlDatabase, type SqlRunner, type SqlValue } from '../../kernel/index.ts'
import { idempotencyHash, payloadHash } from '../idempotency.ts'
import { validateNewTask } from '../new-task.ts'
import type { SubmitResult } from '../task-store.ts'
import { bytesOrNull, text, utcText } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'

/** Rows of one INSERT at most, and the bytes of payload after which the next one begins. */
const largestInsert = 128
const mostPayloadBytes = 4_194_304

const columns = [
  'type',
  'state',
  'priority',
  'run_at',
  'created_at',
  'state_since',
  'deadline_at',
  'owner',
  'title',
  'business_key',
  'partition_key',
  'idempotency_hash',
  'payload_hash',
  'payload',
  'timeout_ms',
  'max_attempts',
  'retry_policy',
  'claim_token'
]

/** Without a due time the task is due at once by the database's clock. */
const rowOfMarks = '(?, ?, ?, COALESCE(?, NOW(6)), NOW(6), NOW(6), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'

const insertTasks = perLength(
  (length) => `INSERT INTO taskdeck_task (${columns.join(', ')}) VALUES ${marks(length, rowOfMarks)}`
)

/**
 * A key that is there already leaves its task as it is. Counts of an upsert say nothing about who was first, and its ids are not in a row:
 * both are read back by key and token.
 */
const insertKeyed = perLength((length) => `${insertTasks(length)} ON DUPLICATE KEY UPDATE id = id`)

const findKeyed = perLength(
  (length) => `
SELECT id, idempotency_hash, payload_hash, claim_token FROM taskdeck_task FORCE INDEX (taskdeck_task_idempotency)
WHERE idempotency_hash IN (${marks(length)})`
)

const findPlain = 'SELECT payload_hash = ? AND idempotency_hash IS NULL AS ours FROM taskdeck_task WHERE id = ?'

interface Draft {
  /** Index among all tasks of the call. */
  readonly index: number
  readonly task: NewTask
  readonly keyHash: Uint8Array | null
  readonly payloadHash: Uint8Array
}

/** All inputs are checked before the first is written; then batches of `taskLimits.submitBatch`, each atomic. */
export async function submit(
  database: SqlDatabase,
  tasks: readonly NewTask[],
  idStep: number
): Promise<SubmitResult[]> {
  const drafts = tasks.map((task, index) => toDraft(validateNewTask(task, index + 1), index))
  const results: SubmitResult[] = []
  for (const batch of chunksOf(drafts, taskLimits.submitBatch)) {
    const found = await submitBatch(database, batch, idStep)
    for (const draft of batch) {
      const result = found.get(draft)
      if (result) results[draft.index] = result
    }
  }
  return results
}

type Found = Map<Draft, SubmitResult>

async function submitBatch(database: SqlDatabase, batch: readonly Draft[], idStep: number): Promise<Found> {
  const plain = batch.filter(({ keyHash }) => keyHash === null)
  const keyed = batch.filter(({ keyHash }) => keyHash !== null)
  const token = randomBytes(16)
  let written: Found = new Map()
  const work = async (runner: SqlRunner): Promise<Found> => {
    written = new Map()
    // Keys last and in their order: who waits for one of them locks the gap before it, where this transaction must not
    // insert any more, and rows without a key all go before the smallest one (seen: one deadlock in 5 s of racing keys).
    await writePlain(runner, plain, idStep, written)
    await writeKeyed(runner, keyed, token, written)
    return written
  }
  // Keys make a repetition harmless; without them the first task's id tells whether the batch is there.
  const readBack = async (runner: SqlRunner): Promise<Found | undefined> => {
    const [first] = plain
    const id = first && written.get(first)?.taskId
    if (!first || id === undefined) return undefined
    const { rows } = await runner.execute(findPlain, [first.payloadHash, BigInt(id)])
    return rows.some((row) => text(row, 'ours') === '1') ? written : undefined
  }
  return database.transaction(work, { readBack })
}

/** The ids of one INSERT … VALUES follow each other in steps of @@auto_increment_increment, in every lock mode. */
async function writePlain(runner: SqlRunner, drafts: readonly Draft[], idStep: number, written: Found): Promise<void> {
  for (const chunk of insertChunks(drafts)) {
    const { insertId } = await runner.execute(
      insertTasks(chunk.length),
      chunk.flatMap((draft) => valuesOf(draft, null))
    )
    for (const [position, draft] of chunk.entries()) {
      const taskId = String(BigInt(insertId) + BigInt(position * idStep))
      written.set(draft, { status: 'created', taskId })
    }
  }
}

/** In the order of their keys, so that two submitters with the same keys meet in the same order. */
async function writeKeyed(
  runner: SqlRunner,
  drafts: readonly Draft[],
  token: Uint8Array,
  written: Found
): Promise<void> {
  if (drafts.length === 0) return
  const firsts = new Map<string, Draft>()
  for (const draft of drafts) if (!firsts.has(keyOf(draft))) firsts.set(keyOf(draft), draft)
  const sorted = [...firsts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, draft]) => draft)
  const known = await readKeyed(runner, sorted)
  const missing = sorted.filter((draft) => !known.has(keyOf(draft)))
  for (const chunk of insertChunks(missing))
    await runner.execute(
      insertKeyed(chunk.length),
      chunk.flatMap((draft) => valuesOf(draft, token))
    )
  for (const [key, task] of await readKeyed(runner, missing)) known.set(key, task)
  for (const draft of drafts) {
    const task = known.get(keyOf(draft))
    if (!task) continue
    const isNew = firsts.get(keyOf(draft)) === draft && sameBytes(task.token, token)
    const isSame = sameBytes(task.payloadHash, draft.payloadHash)
    written.set(draft, { status: isNew ? 'created' : isSame ? 'exists' : 'conflict', taskId: task.id })
  }
}

interface KeyedTask {
  readonly id: string
  readonly payloadHash: Uint8Array | null
  readonly token: Uint8Array | null
}

async function readKeyed(runner: SqlRunner, drafts: readonly Draft[]): Promise<Map<string, KeyedTask>> {
  const found = new Map<string, KeyedTask>()
  if (drafts.length === 0) return found
  const hashes = padded(drafts.map(({ keyHash }) => keyHash))
  const { rows } = await runner.execute(findKeyed(hashes.length), hashes)
  for (const row of rows) {
    const hash = bytesOrNull(row, 'idempotency_hash')
    found.set(hex(hash), {
      id: text(row, 'id'),
      payloadHash: bytesOrNull(row, 'payload_hash'),
      token: bytesOrNull(row, 'claim_token')
    })
  }
  return found
}

/** Few lengths, and no more payload in one packet than servers take by default. */
function insertChunks(drafts: readonly Draft[]): Draft[][] {
  const groups: Draft[][] = [[]]
  let bytes = 0
  for (const draft of drafts) {
    const size = Buffer.byteLength(draft.task.payload, 'utf8')
    if (bytes + size > mostPayloadBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push(draft)
    bytes += size
  }
  return groups.flatMap((group) => powerChunks(group, largestInsert))
}

function toDraft(task: NewTask, index: number): Draft {
  const { type, owner, idempotencyKey, payload } = task
  const keyHash = idempotencyKey === null ? null : idempotencyHash({ type, owner, key: idempotencyKey })
  return { index, task, keyHash, payloadHash: payloadHash(payload) }
}

function valuesOf({ task, keyHash, payloadHash: hash }: Draft, token: Uint8Array | null): SqlValue[] {
  return [
    task.type,
    task.held ? 'CREATED' : 'QUEUED',
    task.priority,
    task.runAt === null ? null : utcText(task.runAt),
    task.deadlineAt === null ? null : utcText(task.deadlineAt),
    task.owner,
    task.title,
    task.businessKey,
    task.partitionKey,
    keyHash,
    hash,
    task.payload,
    task.timeoutMs,
    task.maxAttempts,
    JSON.stringify(task.retryPolicy),
    token
  ]
}

const hex = (bytes: Uint8Array | null): string => (bytes === null ? '' : Buffer.from(bytes).toString('hex'))
const keyOf = (draft: Draft): string => hex(draft.keyHash)
const sameBytes = (a: Uint8Array | null, b: Uint8Array): boolean => a !== null && Buffer.compare(a, b) === 0
