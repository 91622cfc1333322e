import type { SqlRow, SqlRunner } from '../../kernel/index.ts'
import { takeTurns } from '../claim-room.ts'
import type { ClaimGroup } from './claim-groups.ts'
import { lockLane, mostLanes, sharesOf, type Lane } from './claim-lanes.ts'
import type { ClaimLimits, Entry } from './claim-limits.ts'
import { compareIds, text } from './row-values.ts'

export interface Picked {
  readonly group: ClaimGroup
  readonly row: SqlRow
}

/** Where a group goes on; undefined: it gave out. */
export type UsedGroups = Map<ClaimGroup, ClaimGroup | undefined>

/** Locks up to `limit` tasks, level by level of urgency. */
export async function pick(
  runner: SqlRunner,
  groups: readonly ClaimGroup[],
  limit: number,
  limits: ClaimLimits
): Promise<{ picked: Picked[]; used: UsedGroups }> {
  const picked: Picked[] = []
  const used: UsedGroups = new Map()
  for (const rank of ranksOf(groups)) {
    const wanted = Math.min(limit - picked.length, limits.room.ofQueue())
    if (wanted <= 0) break
    const level = groups.filter((group) => group.rank === rank && limits.room.ofType(group.type) > 0)
    if (level.length === 0) continue
    const entries = await limits.entriesOf(runner, longestDue(level))
    if (!entries) break
    const found = await new LevelPick(runner, entries, limits).pick(wanted, used)
    picked.push(...found.sort(byDueTime))
  }
  return { picked, used }
}

/** Takes from the lanes of one level. */
class LevelPick {
  private readonly runner: SqlRunner
  private readonly entries: readonly Entry[]
  private readonly limits: ClaimLimits
  private readonly picked = new Map<string, Picked>()
  /** Rows of each lane that this transaction holds: they are found again by it. */
  private readonly held = new Map<Lane, number>()
  private readonly exhausted = new Set<Lane>()

  constructor(runner: SqlRunner, entries: readonly Entry[], limits: ClaimLimits) {
    this.runner = runner
    this.entries = entries
    this.limits = limits
  }

  async pick(wanted: number, used: UsedGroups): Promise<Picked[]> {
    const shares = await this.shares(wanted)
    for (const [index, entry] of this.entries.entries()) {
      const share = shares[index] ?? []
      if (entry.fair) await this.takeInTurns(entry, sum(share))
      else for (const [position, lane] of entry.lanes.entries()) await this.take(lane, share[position] ?? 0, used)
    }
    // Counted as the longest due, but past their deadline or held by another claimer: the others of the level have their place.
    if (this.picked.size < wanted && sum(shares.flat()) === wanted)
      for (const lane of this.entries.flatMap(({ lanes }) => lanes))
        await this.take(lane, wanted - this.picked.size, used)
    else if (this.picked.size < wanted) this.forget(used)
    return [...this.picked.values()]
  }

  /** All that was due was counted: what is left has to be looked up again. */
  private forget(used: UsedGroups): void {
    for (const { group } of this.entries) if (this.limits.room.ofType(group.type) > 0) used.set(group, undefined)
  }

  /** Of each entry, how many of the longest due tasks are in its lanes; of a fair one without limits of owners, in all of them. */
  private async shares(wanted: number): Promise<number[][]> {
    const [only] = this.entries
    if (this.entries.length === 1 && only && (only.fair || only.lanes.length === 1)) return [[wanted]]
    const counted = this.entries.map(({ group, lanes, fair, byOwner }) =>
      fair && !byOwner ? [{ group, owner: null }] : lanes
    )
    const lanes = counted.flat().map((lane) => ({ lane, most: this.limits.roomOf(lane) }))
    const shares = await sharesOf(this.runner, lanes, wanted)
    return counted.map((some) => shares.splice(0, some.length))
  }

  private async takeInTurns(entry: Entry, share: number): Promise<void> {
    let missing = share
    for (;;) {
      const open = entry.lanes.filter((lane) => !this.exhausted.has(lane))
      const turns = takeTurns(
        open.map((lane) => this.limits.roomOf(lane)),
        Math.min(missing, this.limits.room.ofType(entry.group.type))
      )
      if (sum(turns) === 0) return
      const before = this.picked.size
      for (const [index, lane] of open.entries()) await this.take(lane, turns[index] ?? 0)
      const least = Math.min(...turns)
      const last = open[turns.lastIndexOf(Math.max(...turns))]
      if (last && Math.max(...turns) > least) this.limits.leaveTurn(last)
      missing -= this.picked.size - before
      if (missing <= 0) return
    }
  }

  private async take(lane: Lane, share: number, used?: UsedGroups): Promise<void> {
    const wanted = Math.min(share, this.limits.roomOf(lane))
    if (wanted <= 0 || this.exhausted.has(lane)) return
    const held = this.held.get(lane) ?? 0
    const rows = await lockLane(this.runner, lane, held + wanted)
    if (rows.length < held + wanted) {
      this.exhausted.add(lane)
      this.limits.exhaust(lane)
    }
    this.held.set(lane, rows.length)
    for (const row of rows) {
      const id = text(row, 'id')
      if (this.picked.has(id)) continue
      this.picked.set(id, { group: lane.group, row })
      this.limits.take(lane.group.type, text(row, 'owner'))
    }
    if (lane.owner !== null) return
    const last = this.exhausted.has(lane) ? undefined : rows.at(-1)
    used?.set(lane.group, last && { ...lane.group, floor: text(last, 'run_at') })
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const ranksOf = (groups: readonly ClaimGroup[]): number[] =>
  [...new Set(groups.map(({ rank }) => rank))].sort((a, b) => a - b)

/** Types of one priority that are merged by due time; of more, those that are due the longest. */
const longestDue = (level: readonly ClaimGroup[]): ClaimGroup[] =>
  [...level].sort((a, b) => (a.floor < b.floor ? -1 : 1)).slice(0, mostLanes)

/** Texts of one format sort as the times do. */
function byDueTime(a: Picked, b: Picked): number {
  const [dueA, dueB] = [text(a.row, 'run_at'), text(b.row, 'run_at')]
  if (dueA !== dueB) return dueA < dueB ? -1 : 1
  return compareIds(text(a.row, 'id'), text(b.row, 'id'))
}
