import { randomBytes } from 'node:crypto'
import {
  AppError,
  taskType,
  type Clock,
  type Fence,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner,
  type SqlValue
} from '../../kernel/index.ts'
import { effectKey } from '../idempotency.ts'
import { clampDelay } from '../retry.ts'
import { storedRetryPolicy } from '../stored-policy.ts'
import type { ClaimedTask, ClaimRequest } from '../task-store.ts'
import { checkWorkerId } from '../worker-values.ts'
import { KnownGroups, type ClaimGroup } from './claim-groups.ts'
import { bytesOrNull, compareIds, count, countOrNull, microseconds, text, textOrNull } from './row-values.ts'
import { marks, padded, paddedLength, perLength, waiting } from './statement-text.ts'

/** More leases than this at once are no use to one process (and the longest list of one statement). */
const largestClaim = 1_024

/** Of an INT UNSIGNED column. */
const largestCount = 4_294_967_295

/** Types of one priority that are merged by due time; of more, those that are due the longest. */
const mostMergedTypes = 64

/**
 * The claim: one range of the claim index in its own order, so that a second claimer passes locked rows without waiting. The order
 * leaves out what the equalities fix: named too, MariaDB sorts when a number is bound as text (docs/decisions/0001-claim-design.md).
 */
export const lockGroup = `
SELECT id, type, payload, title, owner, business_key, attempt, attempts_used, max_attempts, retry_policy, timeout_ms,
  checkpoint, idempotency_hash, created_at, run_at
FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE claim_rank = ? AND type = ? AND run_at >= ? AND run_at <= NOW(6) AND (deadline_at IS NULL OR deadline_at > NOW(6))
ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED`

/** Without locks: how many of each type are among the longest due. Branches beyond the types get LIMIT 0. */
const peekGroups = perLength(
  (length) => `
SELECT type, run_at, id FROM (
${Array.from({ length }, () => peekBranch).join('\n  UNION ALL\n')}
) AS heads ORDER BY run_at, id LIMIT ?`
)
const peekBranch = `  (SELECT type, run_at, id FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
   WHERE claim_rank = ? AND type = ? AND run_at >= ? AND run_at <= NOW(6) ORDER BY run_at, id LIMIT ?)`

/**
 * due_at before run_at changes hands: MySQL assigns from left to right. A counter that is at its end stays there: it would make the
 * statement fail, and every task behind it wait. Of such a task the claimer's fence holds nowhere, so its lease runs out.
 */
const takeTasks = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'RUNNING', attempt = LEAST(attempt, ${largestCount} - 1) + 1,
  attempts_used = LEAST(attempts_used, ${largestCount} - 1) + 1, worker_id = ?, claim_token = ?,
  lease_until = NOW(6) + INTERVAL ? MICROSECOND, due_at = run_at, started_at = NOW(6), state_since = NOW(6),
  progress_total = NULL, progress_processed = NULL, progress_succeeded = NULL, progress_failed = NULL,
  progress_skipped = NULL
WHERE id IN (${marks(length)}) AND state IN (${waiting})`
)

const findToken = 'SELECT claim_token = ? AS ours FROM taskdeck_task WHERE id = ?'

interface Picked {
  readonly group: ClaimGroup
  readonly row: SqlRow
}

type UsedGroups = Map<ClaimGroup, ClaimGroup | undefined>

/** Claims of one store. Keeps where it left off; see `KnownGroups`. */
export class Claims {
  private readonly database: SqlDatabase
  private readonly known: KnownGroups

  constructor(database: SqlDatabase, clock: Clock) {
    this.database = database
    this.known = new KnownGroups(clock)
  }

  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    checkWorkerId(request.workerId)
    const types = [...new Set(request.types)].filter((type) => taskType.safeParse(type).success).sort()
    const limit = Math.min(largestClaim, Math.floor(request.limit))
    if (types.length === 0 || !(limit >= 1)) return []
    const known = this.known.fresh(types)
    const claimed = known ? await this.take(request, known, limit) : []
    if (claimed.length === limit) return claimed
    try {
      return [...claimed, ...(await this.lookAndTake(request, types, limit - claimed.length))]
    } catch (error) {
      // Those leases are committed: dropped, their tasks would wait until they expire and lose an attempt. The next claim fails by itself.
      if (claimed.length === 0) throw error
      return claimed
    }
  }

  /** Tasks became claimable through this store: do not wait for the next look. */
  forget(): void {
    this.known.forget()
  }

  private async lookAndTake(request: ClaimRequest, types: readonly string[], limit: number): Promise<ClaimedTask[]> {
    const found = await this.known.look(this.database, types)
    return found.length === 0 ? [] : this.take(request, found, limit)
  }

  private async take(request: ClaimRequest, groups: readonly ClaimGroup[], limit: number): Promise<ClaimedTask[]> {
    const token = randomBytes(16)
    let taken: { readonly picked: readonly Picked[]; readonly used: UsedGroups } = { picked: [], used: new Map() }
    let runs = 0
    const work = async (runner: SqlRunner): Promise<typeof taken> => {
      if (runs++ > 0) request.onConflict?.()
      taken = await pick(runner, groups, limit)
      if (taken.picked.length > 0) await this.lease(runner, request, taken.picked, token)
      return taken
    }
    const readBack = async (runner: SqlRunner): Promise<typeof taken | undefined> =>
      (await isOurs(runner, taken.picked, token)) ? taken : undefined
    const { picked, used } = await this.database.transaction(work, { readBack })
    this.known.advance(used)
    return picked.map(({ row }) => toClaimed(row, request.workerId))
  }

  private async lease(
    runner: SqlRunner,
    request: ClaimRequest,
    picked: readonly Picked[],
    token: Uint8Array
  ): Promise<void> {
    const ids = padded(picked.map(({ row }) => BigInt(text(row, 'id'))))
    const values = [request.workerId, token, microseconds(clampDelay(request.leaseMs)), ...ids]
    const { affectedRows } = await runner.execute(takeTasks(ids.length), values)
    if (affectedRows !== picked.length)
      throw new AppError('BUG', 'bug', `${picked.length} locked tasks, ${affectedRows} taken`)
  }
}

/** All or none of them carry the token. */
async function isOurs(runner: SqlRunner, picked: readonly Picked[], token: Uint8Array): Promise<boolean> {
  const [first] = picked
  if (!first) return false
  const { rows } = await runner.execute(findToken, [token, BigInt(text(first.row, 'id'))])
  return rows.some((row) => row['ours'] !== null && count(row, 'ours') === 1)
}

/** Locks up to `limit` tasks, level by level of urgency. */
async function pick(
  runner: SqlRunner,
  groups: readonly ClaimGroup[],
  limit: number
): Promise<{ picked: Picked[]; used: UsedGroups }> {
  const picked: Picked[] = []
  const used: UsedGroups = new Map()
  for (const level of levelsOf(groups)) {
    const wanted = limit - picked.length
    if (wanted === 0) break
    const found = await pickLevel(runner, level, wanted, used)
    picked.push(...found.sort(byDueTime))
  }
  return { picked, used }
}

async function pickLevel(
  runner: SqlRunner,
  level: readonly ClaimGroup[],
  wanted: number,
  used: UsedGroups
): Promise<Picked[]> {
  const shares = level.length === 1 ? [wanted] : await sharesOf(runner, level, wanted)
  const picked: Picked[] = []
  for (const [index, group] of level.entries()) {
    const share = shares[index] ?? 0
    if (share === 0) continue
    const { rows } = await runner.execute(lockGroup, [group.rank, group.type, group.floor, share])
    picked.push(...rows.map((row) => ({ group, row })))
    const last = rows.at(-1)
    used.set(group, last && rows.length === share ? { ...group, floor: text(last, 'run_at') } : undefined)
  }
  if (picked.length === wanted) return picked
  for (const group of level) used.set(group, undefined)
  const counted = shares.reduce((sum, share) => sum + share, 0)
  return counted < wanted ? picked : [...picked, ...(await pickBeyond(runner, level, picked, wanted))]
}

/**
 * Tasks that were counted as the longest due may be past their deadline or held by another claimer. Without this they would
 * keep from the other types of their priority what they do not take themselves.
 */
async function pickBeyond(
  runner: SqlRunner,
  level: readonly ClaimGroup[],
  picked: readonly Picked[],
  wanted: number
): Promise<Picked[]> {
  const taken = new Set(picked.map(({ row }) => text(row, 'id')))
  const more: Picked[] = []
  for (const group of level) {
    const missing = wanted - picked.length - more.length
    if (missing === 0) break
    // Rows that this transaction has locked already are found again: its own locks are not passed over.
    const again = picked.filter((one) => one.group === group).length
    const { rows } = await runner.execute(lockGroup, [group.rank, group.type, group.floor, again + missing])
    const fresh = rows.filter((row) => !taken.has(text(row, 'id'))).slice(0, missing)
    more.push(...fresh.map((row) => ({ group, row })))
  }
  return more
}

/** How many of the `wanted` longest due tasks each group has. */
async function sharesOf(runner: SqlRunner, level: readonly ClaimGroup[], wanted: number): Promise<number[]> {
  const length = paddedLength(level.length)
  const values = Array.from({ length }, (_, index): SqlValue[] => {
    const group = level[index]
    return group ? [group.rank, group.type, group.floor, wanted] : [0, '', '1970-01-01', 0]
  })
  const { rows } = await runner.execute(peekGroups(length), [...values.flat(), wanted])
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(text(row, 'type'), (counts.get(text(row, 'type')) ?? 0) + 1)
  return level.map((group) => counts.get(group.type) ?? 0)
}

function levelsOf(groups: readonly ClaimGroup[]): ClaimGroup[][] {
  const ranks = [...new Set(groups.map(({ rank }) => rank))].sort((a, b) => a - b)
  return ranks.map((rank) =>
    groups
      .filter((group) => group.rank === rank)
      .sort((a, b) => (a.floor < b.floor ? -1 : 1))
      .slice(0, mostMergedTypes)
  )
}

/** Texts of one format sort as the times do. */
function byDueTime(a: Picked, b: Picked): number {
  const [dueA, dueB] = [text(a.row, 'run_at'), text(b.row, 'run_at')]
  if (dueA !== dueB) return dueA < dueB ? -1 : 1
  return compareIds(text(a.row, 'id'), text(b.row, 'id'))
}

function toClaimed(row: SqlRow, workerId: string): ClaimedTask {
  const taskId = text(row, 'id')
  const fence: Fence = { taskId, workerId, attempt: count(row, 'attempt') + 1 }
  const idempotencyHash = bytesOrNull(row, 'idempotency_hash')
  return {
    fence,
    type: text(row, 'type'),
    payload: text(row, 'payload'),
    title: text(row, 'title'),
    owner: text(row, 'owner'),
    businessKey: textOrNull(row, 'business_key'),
    attemptsUsed: count(row, 'attempts_used') + 1,
    maxAttempts: count(row, 'max_attempts'),
    retryPolicy: storedRetryPolicy(text(row, 'retry_policy')),
    timeoutMs: countOrNull(row, 'timeout_ms'),
    checkpoint: textOrNull(row, 'checkpoint'),
    idempotencyKey: effectKey({ taskId, createdAt: text(row, 'created_at'), idempotencyHash })
  }
}
