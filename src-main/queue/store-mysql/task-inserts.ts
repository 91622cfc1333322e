import type { NewTask, SqlRunner, SqlValue } from '../../kernel/index.ts'
import { partsWithin } from '../new-task.ts'
import type { Start } from './dependencies.ts'
import { bytesOrNull, count, text, utcText } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'

/**
 * Rows of one INSERT at most, and the bytes of payload after which the next one begins. A statement has at most 65,535 values, a packet 16 MB
 * by default (MariaDB). From 128 to 2,048 rows a task costs the server the same (19 to 26 us of its CPU), so the larger is for the link.
 */
const largestInsert = 1_024
export const mostPayloadBytes = 4_194_304

/** Keys of one look at most. */
const longestKeyList = 1_024

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
  'claim_token',
  'held',
  'waits_for'
]

/** Without a due time the task is due at once by the database's clock. */
const rowOfMarks = '(?, ?, ?, COALESCE(?, NOW(6)), NOW(6), NOW(6), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'

const insertTasks = perLength(
  (length) => `INSERT INTO taskdeck_task (${columns.join(', ')}) VALUES ${marks(length, rowOfMarks)}`
)

/**
 * A key that is there already leaves its task as it is. Counts of an upsert say nothing about who was first, and its ids are not in a row:
 * both are read back by key and token.
 */
const insertNewKeys = perLength((length) => `${insertTasks(length)} ON DUPLICATE KEY UPDATE id = id`)

const findKeyed = perLength(
  (length) => `
SELECT id, idempotency_hash, payload_hash, claim_token FROM taskdeck_task FORCE INDEX (taskdeck_task_idempotency)
WHERE idempotency_hash IN (${marks(length)})`
)

/** A task on its way into the database. */
export interface Draft {
  /** Index among all tasks of the call. */
  readonly index: number
  readonly task: NewTask
  /** The hash of its idempotency key in hexadecimal; empty without one. */
  readonly key: string
  readonly keyHash: Uint8Array | null
  readonly payloadHash: Uint8Array
  readonly start: Start
}

/** The new ids. Those of one INSERT … VALUES follow each other in steps of the session's @@auto_increment_increment, in every lock mode. */
export async function insertPlain(runner: SqlRunner, drafts: readonly Draft[]): Promise<string[]> {
  const idStep = drafts.length > 1 ? await readIdStep(runner) : 1n
  const ids: string[] = []
  for (const chunk of insertChunks(drafts)) {
    const { insertId } = await runner.execute(
      insertTasks(chunk.length),
      chunk.flatMap((draft) => valuesOf(draft, null))
    )
    for (const position of chunk.keys()) ids.push(String(BigInt(insertId) + BigInt(position) * idStep))
  }
  return ids
}

/** 1, or the number of writing nodes: a cluster changes it as nodes come and go, and each session keeps what it found when it began. */
async function readIdStep(runner: SqlRunner): Promise<bigint> {
  const [row] = (await runner.execute('SELECT @@auto_increment_increment AS step')).rows
  return row ? BigInt(count(row, 'step')) : 1n
}

/** Leaves the tasks of keys that exist as they are. */
export async function insertKeyed(runner: SqlRunner, drafts: readonly Draft[], token: Uint8Array): Promise<void> {
  for (const chunk of insertChunks(drafts))
    await runner.execute(
      insertNewKeys(chunk.length),
      chunk.flatMap((draft) => valuesOf(draft, token))
    )
}

/** The task of an idempotency key. */
export interface KeyedTask {
  readonly id: string
  readonly payloadHash: Uint8Array | null
  readonly token: Uint8Array | null
}

/** By the drafts' `key`. */
export async function readKeyed(runner: SqlRunner, drafts: readonly Draft[]): Promise<Map<string, KeyedTask>> {
  const found = new Map<string, KeyedTask>()
  for (const chunk of chunksOf(drafts, longestKeyList)) {
    const hashes = padded(chunk.map(({ keyHash }) => keyHash))
    const { rows } = await runner.execute(findKeyed(hashes.length), hashes)
    for (const row of rows)
      found.set(Buffer.from(bytesOrNull(row, 'idempotency_hash') ?? []).toString('hex'), {
        id: text(row, 'id'),
        payloadHash: bytesOrNull(row, 'payload_hash'),
        token: bytesOrNull(row, 'claim_token')
      })
  }
  return found
}

/** Few lengths, and no more payload in one packet than servers take by default. */
const insertChunks = (drafts: readonly Draft[]): Draft[][] =>
  partsWithin(drafts, mostPayloadBytes, ({ task }) => Buffer.byteLength(task.payload, 'utf8')).flatMap((group) =>
    powerChunks(group, largestInsert)
  )

function valuesOf({ task, keyHash, payloadHash, start }: Draft, token: Uint8Array | null): SqlValue[] {
  return [
    task.type,
    task.held || start.open > 0 || start.fails ? 'CREATED' : 'QUEUED',
    task.priority,
    task.runAt === null ? null : utcText(task.runAt),
    task.deadlineAt === null ? null : utcText(task.deadlineAt),
    task.owner,
    task.title,
    task.businessKey,
    task.partitionKey,
    keyHash,
    payloadHash,
    task.payload,
    task.timeoutMs,
    task.maxAttempts,
    task.retryPolicy === null ? null : JSON.stringify(task.retryPolicy),
    token,
    task.held ? 1 : 0,
    start.open
  ]
}
