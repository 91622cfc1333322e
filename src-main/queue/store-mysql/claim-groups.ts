import { taskLimits, type Clock, type SqlRunner } from '../../kernel/index.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { effectivePolicies, storedName } from './policies.ts'
import { count, text } from './row-values.ts'

/** Due tasks of one priority and type: one range of the claim index. */
export interface ClaimGroup {
  readonly rank: number
  readonly type: string
  /** No task of the group that is still to be found is due before this (DATETIME(6) text): the scan starts here. */
  readonly floor: string
}

/** A row that comes late or back-dated below a floor, or in a group that was empty, waits at most this long (ms). */
const longestBlindnessMs = 250

/** A look may take this part of the time: the groups cost 0.2 ms, or 20 under a purge that lags; the policies are one statement more. */
const scanShare = 1 / 20

/** Jumps to the first entry of the next group: one dive into the index, however many tasks the groups hold. */
export const nextGroup = `
SELECT claim_rank, type, run_at, run_at <= NOW(6) AS due
FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE (claim_rank = ? AND type >= ?) OR (claim_rank > ? AND claim_rank < ${taskLimits.priorities})
ORDER BY claim_rank, type, run_at, id LIMIT 1`

/**
 * Which groups have due tasks, most urgent first. At most one jump a group that exists and ten a named type, whichever is less;
 * one on an empty queue. Takes no locks. `types` sorted and not empty.
 */
export async function findGroups(runner: SqlRunner, types: readonly string[]): Promise<ClaimGroup[]> {
  const [firstType] = types
  const wanted = new Set(types)
  const found: ClaimGroup[] = []
  let rank = 0
  let from = firstType
  while (from !== undefined && rank < taskLimits.priorities) {
    const [row] = (await runner.execute(nextGroup, [rank, from, rank])).rows
    if (!row) return found
    const stored = text(row, 'type')
    const type = storedName(stored)
    rank = count(row, 'claim_rank')
    if (wanted.has(type) && count(row, 'due') === 1) found.push({ rank, type, floor: text(row, 'run_at') })
    from = types.find((candidate) => filledUp(candidate) > filledUp(stored))
    if (from === undefined) {
      rank += 1
      from = firstType
    }
  }
  return found
}

/**
 * The column's collation compares texts as if filled up with spaces. Other programs may write types that end in spaces or have control
 * characters: one such row must not hide the group that it sorts into or next to.
 */
const filledUp = (type: string): string => type.padEnd(taskLimits.typeLength)

/** What one store knows of the groups, and of the policies that limit them, between two looks. */
export class KnownGroups {
  private readonly clock: Clock
  private limits = EffectivePolicies.none
  private groups: readonly ClaimGroup[] = []
  private types = ''
  private staleAt = Number.NEGATIVE_INFINITY
  /** How often it was told to forget: a look that was under way then is old already. */
  private forgotten = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** As old as the groups. */
  get policies(): EffectivePolicies {
    return this.limits
  }

  /** Still worth using for these types; undefined when it is time to look again. */
  fresh(types: readonly string[]): readonly ClaimGroup[] | undefined {
    const usable = this.groups.length > 0 && this.types === types.join(' ') && this.clock.monotonic() < this.staleAt
    return usable ? this.groups : undefined
  }

  async look(runner: SqlRunner, types: readonly string[]): Promise<readonly ClaimGroup[]> {
    const began = this.clock.monotonic()
    const { forgotten } = this
    const groups = await findGroups(runner, types)
    // Known together or not at all: groups whose limits could not be read would be claimed from without their gates.
    if (groups.length > 0) this.limits = await effectivePolicies(runner)
    const ended = this.clock.monotonic()
    this.groups = groups
    this.types = types.join(' ')
    const usableMs = Math.min(longestBlindnessMs, (ended - began) / scanShare)
    this.staleAt = forgotten === this.forgotten ? ended + usableMs : Number.NEGATIVE_INFINITY
    return groups
  }

  /** After a claim: groups that gave out are forgotten, the others go on from where they were left. */
  advance(used: ReadonlyMap<ClaimGroup, ClaimGroup | undefined>): void {
    this.groups = this.groups.flatMap((group) => (used.has(group) ? (used.get(group) ?? []) : [group]))
  }

  /** This process itself has just made a task claimable, or changed a policy. */
  forget(): void {
    this.forgotten++
    this.staleAt = Number.NEGATIVE_INFINITY
  }
}
