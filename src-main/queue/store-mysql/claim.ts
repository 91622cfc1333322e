import { randomBytes } from 'node:crypto'
import {
  AppError,
  taskLimits,
  taskType,
  type Clock,
  type Fence,
  type SqlDatabase,
  type SqlRunner
} from '../../kernel/index.ts'
import { notLimited, Turns } from '../claim-room.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import { effectKey } from '../idempotency.ts'
import { clampLease } from '../retry.ts'
import type { ClaimedTask, ClaimRequest, LimitedBy } from '../task-store.ts'
import { checkWorkerId } from '../worker-values.ts'
import { KnownGroups, type ClaimGroup } from './claim-groups.ts'
import { ClaimLimits, type ClaimMemory } from './claim-limits.ts'
import { KnownOwners } from './claim-owners.ts'
import { pick, type Picked, type UsedGroups } from './claim-pick.ts'
import { makeOwnerGates } from './gates.ts'
import { bytesOrNull, count, largestCount, microseconds, text, textOrNull } from './row-values.ts'
import { marks, padded, perLength, waiting } from './statement-text.ts'
import { ownTerms } from './task-rows.ts'

/** More leases than this at once are no use to one process (and the longest list of one statement). */
const largestClaim = 1_024

/** One, and one more for each priority where limited owners are met for the first time. */
const mostLooks = taskLimits.priorities + 1

/**
 * due_at before run_at changes hands: MySQL assigns from left to right. A counter that is at its end stays there: it would make the
 * statement fail, and every task behind it wait. Of such a task the claimer's fence holds nowhere, so its lease runs out.
 */
const takeTasks = perLength(
  (length) => `
UPDATE taskdeck_task FORCE INDEX (PRIMARY)
SET state = 'RUNNING', attempt = LEAST(attempt, ${largestCount} - 1) + 1,
  attempts_used = LEAST(attempts_used, ${largestCount} - 1) + 1, worker_id = ?, claim_token = ?,
  lease_until = NOW(6) + INTERVAL ? MICROSECOND, lease_ms = ?, due_at = run_at, started_at = NOW(6), state_since = NOW(6),
  progress_total = NULL, progress_processed = NULL, progress_succeeded = NULL, progress_failed = NULL,
  progress_skipped = NULL
WHERE id IN (${marks(length)}) AND state IN (${waiting})`
)

const findToken = 'SELECT claim_token = ? AS ours FROM taskdeck_task WHERE id = ?'

interface Taken {
  readonly picked: readonly Picked[]
  readonly used: UsedGroups
  readonly policies: EffectivePolicies
  /** What was left. */
  readonly limitedBy: LimitedBy
}

interface Found {
  readonly tasks: readonly ClaimedTask[]
  readonly limitedBy: LimitedBy
}

/** Claims of one store. Keeps where it left off; see `KnownGroups`. */
export class Claims {
  private readonly database: SqlDatabase
  private readonly known: KnownGroups
  private readonly memory: ClaimMemory = {
    turns: new Turns(),
    owners: new KnownOwners(),
    newOwners: new Set(),
    madeGates: new Set()
  }

  constructor(database: SqlDatabase, clock: Clock) {
    this.database = database
    this.known = new KnownGroups(clock)
  }

  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    checkWorkerId(request.workerId)
    const types = [...new Set(request.types)].filter((type) => taskType.safeParse(type).success).sort()
    const limit = Math.min(largestClaim, Math.floor(request.limit))
    if (types.length === 0 || !(limit >= 1)) return []
    const claimed: ClaimedTask[] = []
    let limitedBy = notLimited
    const take = async (groups: readonly ClaimGroup[]): Promise<boolean> => {
      const found = await this.take(request, groups, limit - claimed.length)
      claimed.push(...found.tasks)
      limitedBy = found.limitedBy
      return this.makeGates()
    }
    try {
      let goesOn = await take(this.known.fresh(types) ?? [])
      // Where limits cut it short a look and one more transaction would find nothing: what is new waits for the next look, 250 ms at most.
      goesOn ||= limitedBy.types.length === 0 || (claimed.length === 0 && !limitedBy.isBusy)
      for (let looks = 0; goesOn && looks < mostLooks && claimed.length < limit; looks++)
        goesOn = await take(await this.look(types))
    } catch (error) {
      // Those leases are committed: dropped, their tasks would wait until they expire and lose an attempt. The next claim fails by itself.
      if (claimed.length === 0) throw error
    }
    if (claimed.length < limit && limitedBy.types.length > 0) request.onLimited?.(limitedBy)
    return claimed
  }

  /** Tasks became claimable through this store, or policies changed: do not wait for the next look. */
  forget(): void {
    this.known.forget()
  }

  private async look(types: readonly string[]): Promise<readonly ClaimGroup[]> {
    const found = await this.known.look(this.database, types)
    if (found.length === 0) return []
    this.memory.owners.clear()
    this.memory.madeGates.clear()
    return found
  }

  /** Those of owners that the claim missed. True when there were some: it stopped there and can go on. */
  private async makeGates(): Promise<boolean> {
    const owners = [...this.memory.newOwners]
    if (owners.length === 0) return false
    await makeOwnerGates(this.database, owners)
    this.memory.newOwners.clear()
    return true
  }

  private async take(request: ClaimRequest, known: readonly ClaimGroup[], limit: number): Promise<Found> {
    const groups = this.known.policies.queue.enabled
      ? known.filter(({ type }) => this.known.policies.ofType(type).enabled)
      : []
    if (groups.length === 0) return { tasks: [], limitedBy: notLimited }
    const token = randomBytes(16)
    let taken: Taken = { picked: [], used: new Map(), policies: this.known.policies, limitedBy: notLimited }
    let runs = 0
    const work = async (runner: SqlRunner): Promise<Taken> => {
      if (runs++ > 0) request.onConflict?.()
      const limits = await this.limitsOf(runner, groups)
      const { picked, used } = await pick(runner, groups, limit, limits)
      const due = groups.filter((group) => !used.has(group) || used.get(group) !== undefined).map(({ type }) => type)
      taken = { picked, used, policies: limits.policies, limitedBy: limits.room.heldBackBy(due, request.types) }
      await lease(runner, request, taken, token)
      await limits.record(runner)
      return taken
    }
    const readBack = async (runner: SqlRunner): Promise<Taken | undefined> =>
      (await isOurs(runner, taken.picked, token)) ? taken : undefined
    const { picked, used, policies, limitedBy } = await this.database.transaction(work, { readBack })
    this.known.advance(used)
    return { tasks: picked.map((one) => toClaimed(one, request, policies)), limitedBy }
  }

  private async limitsOf(runner: SqlRunner, groups: readonly ClaimGroup[]): Promise<ClaimLimits> {
    const types = [...new Set(groups.map(({ type }) => type))]
    if (!this.known.policies.limitsClaim(types)) return ClaimLimits.none(this.known.policies, this.memory)
    return ClaimLimits.enter(runner, { known: this.known.policies, types, memory: this.memory })
  }
}

/** All together, but for those that have leases of another length. */
async function lease(
  runner: SqlRunner,
  request: ClaimRequest,
  { picked, policies }: Taken,
  token: Uint8Array
): Promise<void> {
  const byLease = new Map<number, bigint[]>()
  for (const { row, group } of picked) {
    const leaseMs = leaseOf(group.type, request, policies)
    const ids = byLease.get(leaseMs) ?? []
    byLease.set(leaseMs, ids)
    ids.push(BigInt(text(row, 'id')))
  }
  for (const [leaseMs, some] of byLease) {
    const ids = padded(some)
    const values = [request.workerId, token, microseconds(leaseMs), leaseMs, ...ids]
    const { affectedRows } = await runner.execute(takeTasks(ids.length), values)
    if (affectedRows !== some.length)
      throw new AppError('BUG', 'bug', `${some.length} locked tasks, ${affectedRows} taken`)
  }
}

/** All or none of them carry the token. */
async function isOurs(runner: SqlRunner, picked: readonly Picked[], token: Uint8Array): Promise<boolean> {
  const [first] = picked
  if (!first) return false
  const { rows } = await runner.execute(findToken, [token, BigInt(text(first.row, 'id'))])
  return rows.some((row) => row['ours'] !== null && count(row, 'ours') === 1)
}

const leaseOf = (type: string, request: ClaimRequest, policies: EffectivePolicies): number =>
  clampLease(policies.ofType(type).leaseMs ?? request.leaseMs)

/** Its type is the group's: a row may hold it with spaces at the end. */
function toClaimed({ row, group }: Picked, request: ClaimRequest, policies: EffectivePolicies): ClaimedTask {
  const { type } = group
  const taskId = text(row, 'id')
  const fence: Fence = { taskId, workerId: request.workerId, attempt: count(row, 'attempt') + 1 }
  const idempotencyHash = bytesOrNull(row, 'idempotency_hash')
  return {
    fence,
    type,
    payload: text(row, 'payload'),
    title: text(row, 'title'),
    owner: text(row, 'owner'),
    businessKey: textOrNull(row, 'business_key'),
    attemptsUsed: count(row, 'attempts_used') + 1,
    ...policies.ofTask(type, ownTerms(row)),
    leaseMs: leaseOf(type, request, policies),
    checkpoint: textOrNull(row, 'checkpoint'),
    idempotencyKey: effectKey({ taskId, createdAt: text(row, 'created_at'), idempotencyHash })
  }
}
