import type { SqlRunner } from '../../kernel/index.ts'
import { ClaimRoom, type Turns } from '../claim-room.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import { roomInRate } from '../rate-window.ts'
import type { ClaimGroup } from './claim-groups.ts'
import { mostLanes, type Lane } from './claim-lanes.ts'
import type { KnownOwners } from './claim-owners.ts'
import {
  countLeases,
  lockAvailable,
  lockAvailableOwners,
  lockQueueGate,
  recordTaking,
  takingsOfGate,
  type Gate
} from './gates.ts'
import { effectivePolicies, storedName } from './policies.ts'

/** The tasks of one priority and type that a claim may go through. */
export interface Entry {
  readonly group: ClaimGroup
  /** One for all owners, or one an owner. */
  readonly lanes: readonly Lane[]
  /** Owners take turns, instead of the longest due first. */
  readonly fair: boolean
  /** Not all owners may be taken from: how many are due is to be asked of each lane. */
  readonly byOwner: boolean
}

/** Owners whose lanes are gone through, and the last one that was looked at. */
interface LookedAt {
  readonly owners: readonly (string | null)[]
  readonly end: string | undefined
}

const everyOwner: LookedAt = { owners: [null], end: undefined }

interface Entering {
  /** The policies by which gates are chosen; what they say is read anew once the gates are locked. */
  readonly known: EffectivePolicies
  readonly types: readonly string[]
  readonly memory: ClaimMemory
}

/** What a store remembers from claim to claim. */
export interface ClaimMemory {
  readonly turns: Turns
  readonly owners: KnownOwners
  /** Limited ones that have no gate yet: the claim stops before them until it is made, outside of its transaction. */
  readonly newOwners: Set<string>
  /** Gates of types that were there at the last look: what is not free of them is taken. */
  readonly madeGates: Set<string>
}

/**
 * What one claim, in its transaction, may take. Whatever is limited is locked by its gate before it is counted, and stays locked until the
 * claim has committed: every other claim then counts what this one took. A type or owner whose gate is taken, or that is at its limit, is left
 * out before any of its tasks is read.
 */
export class ClaimLimits {
  readonly policies: EffectivePolicies
  readonly room: ClaimRoom
  private readonly memory: ClaimMemory
  private readonly rateGates: ReadonlyMap<string, Gate>

  private constructor(policies: EffectivePolicies, memory: ClaimMemory, rateGates: ReadonlyMap<string, Gate>) {
    this.policies = policies
    this.room = new ClaimRoom(policies)
    this.memory = memory
    this.rateGates = rateGates
  }

  /** Nothing is limited: no statement is added to the claim. */
  static none(policies: EffectivePolicies, memory: ClaimMemory): ClaimLimits {
    return new ClaimLimits(policies, memory, new Map())
  }

  /** All of these types are just being taken by other claimers: nothing more has to be asked. */
  private static closed(policies: EffectivePolicies, types: readonly string[], memory: ClaimMemory): ClaimLimits {
    const limits = ClaimLimits.none(policies, memory)
    for (const type of types) limits.room.closeType(type)
    return limits
  }

  static async enter(runner: SqlRunner, { known, types, memory }: Entering): Promise<ClaimLimits> {
    const running = limitedTypes(known, types)
    const rated = ratedTypes(known, types)
    if (known.queue.maxRunning !== null) await lockQueueGate(runner)
    const runGates = await lockAvailable(runner, { kind: 'RUN', types: running, made: memory.madeGates })
    const rateGates = await lockAvailable(runner, { kind: 'RATE', types: rated, made: memory.madeGates })
    const isTaken = (type: string): boolean =>
      (running.includes(type) && !runGates.has(type)) || (rated.includes(type) && !rateGates.has(type))
    if (types.every(isTaken)) return ClaimLimits.closed(known, types, memory)
    const policies = await effectivePolicies(runner)
    const limits = new ClaimLimits(policies, memory, rateGates)
    const isClosed = (type: string): boolean =>
      (limitedTypes(policies, [type]).length > 0 && !runGates.has(type)) ||
      (ratedTypes(policies, [type]).length > 0 && !rateGates.has(type)) ||
      // A limit of the queue that is new: its gate is not ours.
      (policies.queue.maxRunning !== null && known.queue.maxRunning === null)
    for (const type of types) if (isClosed(type)) limits.room.closeType(type)
    for (const [type, gate] of rateGates) {
      const { rate } = policies.ofType(type)
      if (rate) limits.room.limitRate(type, roomInRate(takingsOfGate(gate), gate.now, rate))
    }
    if (policies.queue.maxRunning !== null || running.length > 0 || policies.limitsOwners) await limits.count(runner)
    return limits
  }

  /** What may be taken of a level's groups, whose types all have room. Undefined: nothing from here on, for gates are missing. */
  async entriesOf(runner: SqlRunner, level: readonly ClaimGroup[]): Promise<Entry[] | undefined> {
    const entries: Entry[] = []
    const ends = new Map<ClaimGroup, string>()
    const perGroup = Math.max(1, Math.floor(mostLanes / level.length))
    for (const group of level) {
      const { fair } = this.policies.ofType(group.type)
      const byOwner = this.policies.limitsOwners
      const looked = fair || byOwner ? await this.ownersOf(runner, group, perGroup) : everyOwner
      entries.push({ group, lanes: looked.owners.map((owner) => ({ group, owner })), fair, byOwner })
      if (looked.end !== undefined) ends.set(group, looked.end)
    }
    if (this.policies.limitsOwners && !(await this.admit(runner, entries))) return undefined
    // So that the next claim looks at others; those served in turns say by themselves where they stopped.
    for (const [{ rank, type }, end] of ends) this.memory.turns.leave(rank, type, end)
    return entries.filter(({ lanes }) => lanes.length > 0)
  }

  /** Of a lane: its type's and its owner's. */
  roomOf({ group, owner }: Lane): number {
    return owner === null ? this.room.ofType(group.type) : this.room.ofOwner(group.type, storedName(owner))
  }

  take(type: string, owner: string): void {
    this.room.take(type, storedName(owner))
  }

  /** The owner who was served last. */
  leaveTurn({ group, owner }: Lane): void {
    if (owner !== null) this.memory.turns.leave(group.rank, group.type, owner)
  }

  /** All that is due of a lane was taken. */
  exhaust({ group, owner }: Lane): void {
    if (owner !== null) this.memory.owners.drop(group, owner)
  }

  /** After the tasks were taken, in their transaction. */
  async record(runner: SqlRunner): Promise<void> {
    for (const [type, gate] of this.rateGates) {
      const { rate } = this.policies.ofType(type)
      const count = this.room.takenOf(type)
      if (rate && count > 0) await recordTaking(runner, type, { gate, count, rate })
    }
  }

  private async ownersOf(runner: SqlRunner, group: ClaimGroup, most: number): Promise<LookedAt> {
    const { turns, owners } = this.memory
    const last = turns.after(group.rank, group.type)
    const isOpen = (owner: string): boolean => this.room.likelyOfOwner(storedName(owner)) > 0
    const { owners: likely, end } = await owners.inTurn(runner, group, { last, isOpen })
    const chosen = likely.slice(0, most)
    return { owners: chosen, end: likely.length > most ? chosen.at(-1) : end }
  }

  /** Locks the gates of the limited owners among them and counts again: only now the numbers hold. False: some are missing. */
  private async admit(runner: SqlRunner, entries: readonly Entry[]): Promise<boolean> {
    const owners = entries.flatMap(({ lanes }) => lanes.map(({ owner }) => storedName(owner ?? '')))
    const limited = owners.filter((owner) => this.policies.ofOwner(owner).maxRunning !== null)
    if (limited.length === 0) return true
    const { locked, missing } = await lockAvailableOwners(runner, limited)
    for (const owner of missing) this.memory.newOwners.add(owner)
    if (missing.length > 0) return false
    for (const owner of locked) this.room.admitOwner(owner)
    await this.count(runner)
    return true
  }

  private async count(runner: SqlRunner): Promise<void> {
    this.room.count(await countLeases(runner))
  }
}

const limitedTypes = (policies: EffectivePolicies, types: readonly string[]): string[] =>
  types.filter((type) => policies.ofType(type).maxRunning !== null)

const ratedTypes = (policies: EffectivePolicies, types: readonly string[]): string[] =>
  types.filter((type) => policies.ofType(type).rate !== null)
