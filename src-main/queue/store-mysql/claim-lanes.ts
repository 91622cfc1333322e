import type { SqlRow, SqlRunner, SqlValue } from '../../kernel/index.ts'
import type { ClaimGroup } from './claim-groups.ts'
import { count, text } from './row-values.ts'
import { paddedLength, perLength } from './statement-text.ts'

/** What one locking read goes through: the due tasks of a group, or of one owner in it. */
export interface Lane {
  readonly group: ClaimGroup
  /** null: of all owners. */
  readonly owner: string | null
}

/** Lanes of one priority that are merged by due time. */
export const mostLanes = 64

const isDue = `run_at >= ? AND run_at <= NOW(6) AND (deadline_at IS NULL OR deadline_at > NOW(6))`

const lockColumns = `id, type, payload, title, owner, business_key, attempt, attempts_used, max_attempts, retry_policy, timeout_ms,
  checkpoint, idempotency_hash, created_at, run_at`

/**
 * The claim: one range of the claim index in its own order, so that a second claimer passes locked rows without waiting. The order
 * leaves out what the equalities fix: named too, MariaDB sorts when a number is bound as text (docs/decisions/0001-claim-design.md).
 */
export const lockGroup = `
SELECT ${lockColumns}
FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE claim_rank = ? AND type = ? AND ${isDue}
ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED`

/** The same for one owner, in the index that is led by owners. */
export const lockOwner = `
SELECT ${lockColumns}
FROM taskdeck_task FORCE INDEX (taskdeck_task_turn)
WHERE claim_rank = ? AND type = ? AND owner = ? AND ${isDue}
ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED`

/** Up to `limit` rows, locked; those that this transaction holds already come again. */
export async function lockLane(runner: SqlRunner, { group, owner }: Lane, limit: number): Promise<readonly SqlRow[]> {
  const { rank, type, floor } = group
  if (owner === null) return (await runner.execute(lockGroup, [rank, type, floor, limit])).rows
  return (await runner.execute(lockOwner, [rank, type, owner, floor, limit])).rows
}

const peekGroup = `SELECT ? AS lane, run_at, id FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
   WHERE claim_rank = ? AND type = ? AND run_at >= ? AND run_at <= NOW(6) ORDER BY run_at, id LIMIT ?`
const peekOwner = `SELECT ? AS lane, run_at, id FROM taskdeck_task FORCE INDEX (taskdeck_task_turn)
   WHERE claim_rank = ? AND type = ? AND owner = ? AND run_at >= ? AND run_at <= NOW(6) ORDER BY run_at, id LIMIT ?`

/** Without locks: how many of each lane are among the longest due. Branches beyond the lanes get LIMIT 0. */
const peek = (branch: string): ((length: number) => string) =>
  perLength(
    (length) => `
SELECT lane, run_at, id FROM (
${Array.from({ length }, () => `  (${branch})`).join('\n  UNION ALL\n')}
) AS heads ORDER BY run_at, id LIMIT ?`
  )
export const peekGroups = peek(peekGroup)
export const peekOwners = peek(peekOwner)

/** One head that a lane has among the longest due. */
interface Head {
  readonly lane: number
  readonly runAt: string
  readonly id: string
}

/** How many of the `wanted` longest due tasks each lane has; of one never more than its most. */
export async function sharesOf(
  runner: SqlRunner,
  lanes: readonly { readonly lane: Lane; readonly most: number }[],
  wanted: number
): Promise<number[]> {
  const heads: Head[] = []
  for (const byOwner of [false, true]) {
    const some = [...lanes.entries()].filter(([, { lane }]) => (lane.owner !== null) === byOwner)
    if (some.length === 0) continue
    const length = paddedLength(some.length)
    const values = Array.from({ length }, (_, position): SqlValue[] => {
      const [index, { lane, most }] = some[position] ?? [0, unused]
      const { rank, type, floor } = lane.group
      return [index, rank, type, ...(byOwner ? [lane.owner] : []), floor, Math.min(most, wanted)]
    })
    const statement = byOwner ? peekOwners(length) : peekGroups(length)
    const { rows } = await runner.execute(statement, [...values.flat(), wanted])
    heads.push(...rows.map((row) => ({ lane: count(row, 'lane'), runAt: text(row, 'run_at'), id: text(row, 'id') })))
  }
  heads.sort((a, b) => (a.runAt < b.runAt ? -1 : a.runAt > b.runAt ? 1 : Number(BigInt(a.id) - BigInt(b.id))))
  const shares = lanes.map(() => 0)
  for (const { lane } of heads.slice(0, wanted)) shares[lane] = (shares[lane] ?? 0) + 1
  return shares
}

const unused = { lane: { group: { rank: 0, type: '', floor: '1970-01-01' }, owner: '' }, most: 0 }
