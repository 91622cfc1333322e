import type { EffectivePolicies } from './effective-policy.ts'
import type { LimitedBy } from './task-store.ts'

/** Leased tasks of one type and owner. */
export interface LeaseCount {
  readonly type: string
  readonly owner: string
  readonly count: number
}

/** Nothing keeps anything back. */
export const notLimited: LimitedBy = { types: [], isBusy: false }

/**
 * How many tasks one claim may still take, by type and owner. Pure arithmetic: the store counts what is leased and holds what must not
 * change meanwhile; of what it does not hold, nothing is taken.
 */
export class ClaimRoom {
  private readonly policies: EffectivePolicies
  private readonly rates = new Map<string, number>()
  private readonly closedTypes = new Set<string>()
  private readonly admittedOwners = new Set<string>()
  private leased = new Tally()
  private readonly taken = new Tally()

  constructor(policies: EffectivePolicies) {
    this.policies = policies
  }

  /** Replaces an earlier count. What this claim has taken is not in it. */
  count(leases: readonly LeaseCount[]): void {
    this.leased = new Tally()
    for (const { type, owner, count } of leases) this.leased.add(type, owner, count)
  }

  /** Another claimer is just taking tasks of it. */
  closeType(type: string): void {
    this.closedTypes.add(type)
  }

  /** Its tasks cannot be taken by anyone else until this claim is over. */
  admitOwner(owner: string): void {
    this.admittedOwners.add(owner)
  }

  limitRate(type: string, room: number): void {
    this.rates.set(type, room)
  }

  ofQueue(): number {
    const { enabled, maxRunning } = this.policies.queue
    if (!enabled) return 0
    return left(maxRunning, this.leased.all + this.taken.all)
  }

  ofType(type: string): number {
    const { enabled, maxRunning } = this.policies.ofType(type)
    if (!enabled || this.closedTypes.has(type)) return 0
    const taken = this.taken.types.get(type) ?? 0
    const rate = left(this.rates.get(type) ?? null, taken)
    return Math.min(this.ofQueue(), rate, left(maxRunning, (this.leased.types.get(type) ?? 0) + taken))
  }

  /** Of this owner's tasks of this type. */
  ofOwner(type: string, owner: string): number {
    const isLimited = this.policies.ofOwner(owner).maxRunning !== null
    if (isLimited && !this.admittedOwners.has(owner)) return 0
    return Math.min(this.ofType(type), this.likelyOfOwner(owner))
  }

  /** By the last count, whether or not it still holds. */
  likelyOfOwner(owner: string): number {
    const { enabled, maxRunning } = this.policies.ofOwner(owner)
    if (!enabled) return 0
    return left(maxRunning, (this.leased.owners.get(owner) ?? 0) + (this.taken.owners.get(owner) ?? 0))
  }

  /**
   * Of `all` types those whose tasks keep `due` ones from being taken, by running now: their end makes room. A closed type is among them, for what
   * the other claimer leaves; rates and pauses are not.
   */
  heldBackBy(due: readonly string[], all: readonly string[]): LimitedBy {
    const { queue } = this.policies
    const open = queue.enabled ? due.filter((type) => this.policies.ofType(type).enabled) : []
    const isBusy = open.some((type) => this.closedTypes.has(type))
    return { types: this.makingRoom(open, all), isBusy }
  }

  private makingRoom(open: readonly string[], all: readonly string[]): readonly string[] {
    if (open.length === 0) return []
    // Ends of other types make room too.
    const isQueueFull = left(this.policies.queue.maxRunning, this.leased.all + this.taken.all) === 0
    if (isQueueFull || this.hasFullOwner()) return all
    return open.filter((type) => {
      const used = (this.leased.types.get(type) ?? 0) + this.takenOf(type)
      return this.closedTypes.has(type) || left(this.policies.ofType(type).maxRunning, used) === 0
    })
  }

  private hasFullOwner(): boolean {
    if (!this.policies.limitsOwners) return false
    const owners = new Set([...this.leased.owners.keys(), ...this.taken.owners.keys()])
    return [...owners].some((owner) => this.policies.ofOwner(owner).enabled && this.likelyOfOwner(owner) === 0)
  }

  take(type: string, owner: string): void {
    this.taken.add(type, owner, 1)
  }

  takenOf(type: string): number {
    return this.taken.types.get(type) ?? 0
  }
}

class Tally {
  all = 0
  readonly types = new Map<string, number>()
  readonly owners = new Map<string, number>()

  add(type: string, owner: string, count: number): void {
    this.all += count
    this.types.set(type, (this.types.get(type) ?? 0) + count)
    this.owners.set(owner, (this.owners.get(owner) ?? 0) + count)
  }
}

const left = (most: number | null, used: number): number => (most === null ? Infinity : Math.max(0, most - used))

/** `share` handed out one by one to those that have room, in their order, round after round. */
export function takeTurns(rooms: readonly number[], share: number): number[] {
  const given = rooms.map(() => 0)
  let missing = Math.min(
    share,
    rooms.reduce((sum, room) => sum + Math.max(0, room), 0)
  )
  while (missing > 0)
    for (const [index, room] of rooms.entries()) {
      if (missing === 0) break
      if ((given[index] ?? 0) >= room) continue
      given[index] = (given[index] ?? 0) + 1
      missing--
    }
  return given
}

/** Whose turn it is, of each priority and type: the owner after whom the next claim begins. */
export class Turns {
  private readonly last = new Map<string, string>()

  after(rank: number, type: string): string | undefined {
    return this.last.get(`${rank} ${type}`)
  }

  leave(rank: number, type: string, owner: string): void {
    if (this.last.size >= mostTurns) this.last.clear()
    this.last.set(`${rank} ${type}`, owner)
  }
}

const mostTurns = 10_000

/** Those after `last` first, then the others; both in their order, which is the database's: by code points, and not as JavaScript compares. */
export function rotated(owners: readonly string[], last: string | undefined): string[] {
  if (last === undefined) return [...owners]
  const place = owners.indexOf(last)
  if (place >= 0) return [...owners.slice(place + 1), ...owners.slice(0, place + 1)]
  const bytes = Buffer.from(last)
  const isLater = (owner: string): boolean => Buffer.compare(Buffer.from(owner), bytes) > 0
  return [...owners.filter(isLater), ...owners.filter((owner) => !isLater(owner))]
}
