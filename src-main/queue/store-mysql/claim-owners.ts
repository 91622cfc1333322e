import type { SqlRunner } from '../../kernel/index.ts'
import { rotated } from '../claim-room.ts'
import type { ClaimGroup } from './claim-groups.ts'
import { mostLanes } from './claim-lanes.ts'
import { count, text } from './row-values.ts'

/** Jumps of one look. Beyond the owners that it is to find it passes those at their limit, which are no more than there are leases. */
const mostJumps = 512

/**
 * A jump to the next owner of a group, with its longest due task: one dive into the index, however many tasks an owner has. One statement
 * a jump: MariaDB reads the whole group when a recursive query is to jump by itself (100,000 entries for two owners).
 */
const jump = (comparison: '>=' | '>'): string => `
SELECT owner, run_at <= NOW(6) AS due FROM taskdeck_task FORCE INDEX (taskdeck_task_turn)
WHERE claim_rank = ? AND type = ? AND owner ${comparison} ? ORDER BY owner, run_at, id LIMIT 1`

export const firstOwner = jump('>=')
export const nextOwner = jump('>')

/** The column compares texts as if filled up with spaces: an owner that begins with a tab comes before the empty one. */
const beforeAll = '\0'

interface Look {
  /** With a due task, and not at its limit then; in the order of the index. */
  readonly owners: readonly string[]
  /** Where it stopped; undefined when it saw all owners. */
  readonly end: string | undefined
}

/** What one store knows of the owners of its groups. As old as what it knows of the groups. */
export class KnownOwners {
  private readonly looks = new Map<string, Look>()

  /** At most `mostLanes`, those whose turn comes after `last` first. `isOpen`: whether tasks of this owner may be taken. */
  async inTurn(
    runner: SqlRunner,
    group: ClaimGroup,
    { last, isOpen }: { readonly last: string | undefined; readonly isOpen: (owner: string) => boolean }
  ): Promise<Look> {
    const known = this.looks.get(keyOf(group))
    const isUsable = known && known.owners.length > 0 && (known.end === undefined || known.end !== last)
    const look = isUsable ? known : await lookFrom(runner, group, { last, isOpen })
    this.looks.set(keyOf(group), look)
    return { owners: rotated(look.owners, last).filter(isOpen), end: look.end }
  }

  /** It has no due task left. */
  drop(group: ClaimGroup, owner: string): void {
    const look = this.looks.get(keyOf(group))
    if (look) this.looks.set(keyOf(group), { ...look, owners: look.owners.filter((one) => one !== owner) })
  }

  clear(): void {
    this.looks.clear()
  }
}

const keyOf = ({ rank, type }: ClaimGroup): string => `${rank} ${type}`

/** From `last` on to the last owner, then from the first one on, until there are enough. */
async function lookFrom(
  runner: SqlRunner,
  { rank, type }: ClaimGroup,
  { last, isOpen }: { readonly last: string | undefined; readonly isOpen: (owner: string) => boolean }
): Promise<Look> {
  const owners: string[] = []
  const seen = new Set<string>()
  let from = last
  let wrapped = last === undefined
  for (let jumps = 0; owners.length < mostLanes && jumps < mostJumps; jumps++) {
    const sql = from === undefined ? firstOwner : nextOwner
    const [row] = (await runner.execute(sql, [rank, type, from ?? beforeAll])).rows
    if (!row && !wrapped) {
      wrapped = true
      from = undefined
      continue
    }
    const owner = row && text(row, 'owner')
    if (owner === undefined || seen.has(owner)) return { owners, end: undefined }
    if (count(row ?? {}, 'due') === 1 && isOpen(owner)) owners.push(owner)
    seen.add(owner)
    from = owner
  }
  return { owners, end: from }
}
