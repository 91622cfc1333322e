import { randomBytes } from 'node:crypto'
import type { NewTask, SqlDatabase, SqlRunner } from '../../kernel/index.ts'
import { idempotencyHash, payloadHash } from '../idempotency.ts'
import { isNamed, unknownDelays } from '../named-delays.ts'
import { invalidTask, taskBatches, validateNewTask } from '../new-task.ts'
import type { StoredQuota } from '../quota.ts'
import type { SubmitResult } from '../task-store.ts'
import { lockParents, startOf, unknownParents, unknownTask, writeDependencies, type Parents } from './dependencies.ts'
import { effectivePolicies } from './policies.ts'
import { demandsOf, lockQuotas, readQuotas, takeQuotas } from './quotas.ts'
import { text } from './row-values.ts'
import { insertKeyed, insertPlain, readKeyed, type Draft, type KeyedTask } from './task-inserts.ts'

const findPlain = 'SELECT payload_hash = ? AND idempotency_hash IS NULL AS ours FROM taskdeck_task WHERE id = ?'

/** All inputs are checked before the first is written; then batches, each of them one transaction. */
export async function submit(database: SqlDatabase, tasks: readonly NewTask[]): Promise<SubmitResult[]> {
  if (tasks.length === 0) return []
  const drafts = tasks.map((task, index) => toDraft(validateNewTask(task, index + 1), index))
  await checkParents(database, drafts)
  await checkDelays(database, drafts)
  const quotas = await readQuotas(database)
  const results: SubmitResult[] = []
  for (const batch of taskBatches(drafts)) {
    const found = await new Submission(batch, quotas).run(database)
    for (const [draft, result] of found) results[draft.index] = result
  }
  return results
}

/** A task that exists is returned whatever it was submitted with, so its own parents may be gone. */
async function checkParents(database: SqlDatabase, drafts: readonly Draft[]): Promise<void> {
  const dependents = drafts.filter(({ task }) => task.after.length > 0)
  if (dependents.length === 0) return
  const unknown = await unknownParents(
    database,
    dependents.map(({ task }) => task)
  )
  if (unknown.size === 0) return
  const suspects = dependents.filter(({ task }) => task.after.some((id) => unknown.has(id)))
  const known = await readKeyed(database, suspects.filter(isKeyed))
  const wrong = suspects.find((draft) => !known.has(draft.key))
  const name = wrong?.task.after.find((id) => unknown.has(id))
  if (name !== undefined) throw unknownTask(name)
}

/** As for parents: delays that a task which exists names may be gone. */
async function checkDelays(database: SqlDatabase, drafts: readonly Draft[]): Promise<void> {
  if (!drafts.some(({ task }) => isNamed(task.retryPolicy))) return
  const { delays } = await effectivePolicies(database)
  const reasonOf = ({ task }: Draft): string | undefined => unknownDelays(task.retryPolicy, delays)
  const suspects = drafts.filter((draft) => reasonOf(draft) !== undefined)
  const known = await readKeyed(database, suspects.filter(isKeyed))
  const wrong = suspects.find((draft) => !known.has(draft.key))
  if (wrong) throw invalidTask(wrong.index + 1, reasonOf(wrong) ?? '')
}

type Found = Map<Draft, SubmitResult>

/** One batch, written as a whole or not at all. */
class Submission {
  private readonly batch: readonly Draft[]
  private readonly quotas: readonly StoredQuota[]
  private readonly token = randomBytes(16)
  private written: Found = new Map()

  constructor(batch: readonly Draft[], quotas: readonly StoredQuota[]) {
    this.batch = batch
    this.quotas = quotas
  }

  run(database: SqlDatabase): Promise<Found> {
    return database.transaction((runner) => this.write(runner), { readBack: (runner) => this.readBack(runner) })
  }

  /**
   * Locks in the order of all transactions: gates, tasks by id, new tasks. Keys last and in their order: who waits for one of them locks the
   * gap before it, where this transaction must not insert any more, and rows without a key all go before the smallest one (seen: one
   * deadlock in 5 s of racing keys).
   */
  private async write(runner: SqlRunner): Promise<Found> {
    this.written = new Map()
    const plain = this.batch.filter((draft) => !isKeyed(draft))
    const known = await this.readKnown(runner)
    const missing = firstsOfKeys(this.batch).filter(({ key }) => !known.has(key))
    await takeQuotas(runner, demandsOf(this.quotas, tasksOf([...plain, ...missing])))
    const parents = await lockParents(runner, tasksOf([...plain, ...missing]))
    const withStart = (draft: Draft): Draft => ({ ...draft, start: startOf(draft.task, parents) })
    const ids = await insertPlain(runner, plain.map(withStart))
    for (const [position, draft] of plain.entries())
      this.written.set(draft, { status: 'created', taskId: ids[position] ?? '' })
    await insertKeyed(runner, missing.map(withStart), this.token)
    for (const [key, task] of await readKeyed(runner, missing)) known.set(key, task)
    this.readResults(known)
    await this.writeDependencies(runner, parents)
    return this.written
  }

  /** With the gates locked nobody else submits a key that was missing: one that is known takes no room of a quota. */
  private async readKnown(runner: SqlRunner): Promise<Map<string, KeyedTask>> {
    const keyed = firstsOfKeys(this.batch)
    const known = await readKeyed(runner, keyed)
    const open = [...this.batch.filter((draft) => !isKeyed(draft)), ...keyed.filter(({ key }) => !known.has(key))]
    const demands = demandsOf(this.quotas, tasksOf(open))
    if (demands.length === 0) return known
    await lockQuotas(runner, demands)
    const missing = keyed.filter(({ key }) => !known.has(key))
    for (const [key, task] of await readKeyed(runner, missing)) known.set(key, task)
    return known
  }

  private readResults(known: ReadonlyMap<string, KeyedTask>): void {
    const firsts = new Set(firstsOfKeys(this.batch))
    for (const draft of this.batch) {
      const task = known.get(draft.key)
      if (!isKeyed(draft) || !task) continue
      const isNew = firsts.has(draft) && sameBytes(task.token, this.token)
      const isSame = sameBytes(task.payloadHash, draft.payloadHash)
      this.written.set(draft, { status: isNew ? 'created' : isSame ? 'exists' : 'conflict', taskId: task.id })
    }
  }

  private async writeDependencies(runner: SqlRunner, parents: Parents): Promise<void> {
    if (parents.size === 0) return
    const created = [...this.written].filter(
      ([{ task }, { status }]) => status === 'created' && task.after.every((id) => parents.has(id))
    )
    const dependents = created.filter(([{ task }]) => task.after.length > 0)
    const late = await writeDependencies(
      runner,
      dependents.map(([{ task }, { taskId }]) => [taskId, task] as const),
      parents
    )
    const failed = new Set(late)
    for (const [draft, { taskId }] of dependents)
      if (failed.has(taskId)) this.written.set(draft, { status: 'created', taskId, isFailed: true })
  }

  /** Keys make a repetition harmless; without them the first task's id tells whether the batch is there. */
  private async readBack(runner: SqlRunner): Promise<Found | undefined> {
    const first = this.batch.find((draft) => !isKeyed(draft))
    const id = first && this.written.get(first)?.taskId
    if (!first || id === undefined) return undefined
    const { rows } = await runner.execute(findPlain, [first.payloadHash, BigInt(id)])
    return rows.some((row) => text(row, 'ours') === '1') ? this.written : undefined
  }
}

function toDraft(task: NewTask, index: number): Draft {
  const { type, owner, idempotencyKey, payload, after } = task
  const keyHash = idempotencyKey === null ? null : idempotencyHash({ type, owner, key: idempotencyKey })
  return {
    index,
    task: { ...task, after: [...new Set(after)] },
    key: keyHash === null ? '' : Buffer.from(keyHash).toString('hex'),
    keyHash,
    payloadHash: payloadHash(payload),
    start: { open: 0, fails: false }
  }
}

const isKeyed = ({ keyHash }: Draft): boolean => keyHash !== null
const tasksOf = (drafts: readonly Draft[]): NewTask[] => drafts.map(({ task }) => task)

/** The first draft of each key, in the order of the keys, so that two submitters with the same keys meet in the same order. */
function firstsOfKeys(drafts: readonly Draft[]): Draft[] {
  const firsts = new Map<string, Draft>()
  for (const draft of drafts) if (isKeyed(draft) && !firsts.has(draft.key)) firsts.set(draft.key, draft)
  return [...firsts.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

const sameBytes = (a: Uint8Array | null, b: Uint8Array): boolean => a !== null && Buffer.compare(a, b) === 0
