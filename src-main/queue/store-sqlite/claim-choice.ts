import { taskLimits } from '../../kernel/index.ts'
import { ClaimRoom, notLimited, type LeaseCount, type Turns } from '../claim-room.ts'
import type { EffectivePolicies } from '../effective-policy.ts'
import type { LimitedBy } from '../task-store.ts'
import { roomInRate, takingsOf, takingsText, withinPeriod, type Taking } from '../rate-window.ts'
import { effectivePolicies } from './policies.ts'
import type { Session } from './queue-file.ts'
import { isLeased, isWaiting } from './states.ts'

/**
 * One range of the claim's index: a type, a priority, what is due of it, in the order of the claim. A task whose deadline
 * passed is left for recovery to fail. The unary plus hides the parameters from the planner: SQLite else compiles a statement with
 * an equality and an ORDER BY anew whenever its parameters change (5 µs instead of 0.7).
 */
export const dueOfOneRange = `
SELECT id, run_at FROM taskdeck_task INDEXED BY taskdeck_task_claim
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND run_at <= :at
  AND (deadline_at IS NULL OR deadline_at > :at)
ORDER BY run_at, id LIMIT :limit`

/** The same for one owner. */
export const dueOfOneOwner = `
SELECT id, run_at FROM taskdeck_task INDEXED BY taskdeck_task_turn
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND owner = +:owner AND run_at <= :at
  AND (deadline_at IS NULL OR deadline_at > :at)
ORDER BY run_at, id LIMIT :limit`

/** A jump from one owner to the next, with its longest due task, however many they have. */
export const nextOwner = `
SELECT owner, run_at FROM taskdeck_task INDEXED BY taskdeck_task_turn
WHERE ${isWaiting} AND type = +:type AND priority = +:priority AND owner > +:owner ORDER BY owner, run_at, id LIMIT 1`

const firstOwner = nextOwner.replace('owner >', 'owner >=')

export const countLeased = `
SELECT type, owner, COUNT(*) AS count FROM taskdeck_task INDEXED BY taskdeck_task_lease
WHERE lease_until IS NOT NULL AND ${isLeased} GROUP BY type, owner`

const findRate = "SELECT amount, at, taken FROM taskdeck_gate WHERE kind = 'RATE' AND scope = 'TYPE' AND name = :type"

const writeRate = `
INSERT OR REPLACE INTO taskdeck_gate (kind, scope, name, amount, at, taken) VALUES ('RATE', 'TYPE', :type, :count, :at, :taken)`

/** Owners of a range that are looked at in one claim, and of those how many are taken from; the next claim goes on after them. */
const mostJumps = 512
const mostLanes = 64

interface Row {
  readonly id: number
  readonly run_at: number
}

interface DueTask extends Row {
  readonly type: string
  /** Told only when owners are told apart. */
  readonly owner: string
}

export interface Choosing {
  readonly types: readonly string[]
  readonly limit: number
  readonly turns: Turns
}

export interface Choice {
  readonly due: readonly DueTask[]
  readonly policies: EffectivePolicies
  /** Tokens that the choice takes from rates, and whose turn it is then; inside `write` only. */
  readonly record: () => void
  /** Lets the next claim look at other owners; for one that takes nothing. */
  readonly passOn: () => void
  /** What was left. */
  readonly limitedBy: LimitedBy
}

/**
 * What a claim may take now, most urgent first. Under the write lock nobody else takes anything meanwhile, so that limits hold by
 * counting alone.
 */
export function choose(session: Session, { types, limit, turns }: Choosing): Choice {
  const policies = effectivePolicies(session)
  const enabled = policies.queue.enabled ? types.filter((type) => policies.ofType(type).enabled) : []
  if (!policies.limitsClaim(enabled))
    return { due: dueTasks(session, enabled, limit), policies, limitedBy: notLimited, record: nothing, passOn: nothing }
  const choosing = new LimitedChoice(session, policies, turns)
  const due = choosing.tasks(enabled, limit)
  const limitedBy = due.length < limit ? choosing.limitedBy(enabled) : notLimited
  return { due, policies, limitedBy, record: () => choosing.record(), passOn: () => choosing.passOn() }
}

const nothing = (): void => undefined

/** Priority by priority; within one, the types' ranges merged by due time. Reads at most `limit` index entries a range. */
function dueTasks(session: Session, types: readonly string[], limit: number): DueTask[] {
  const due: DueTask[] = []
  for (let priority = 0; priority < taskLimits.priorities && due.length < limit; priority++) {
    const left = limit - due.length
    const ranges = types.map((type) =>
      session
        .all<Row>(dueOfOneRange, { type, priority, at: session.at, limit: left })
        .map((row) => ({ ...row, type, owner: '' }))
    )
    due.push(...merged(ranges).slice(0, left))
  }
  return due
}

function merged(ranges: readonly DueTask[][]): DueTask[] {
  const filled = ranges.filter((range) => range.length > 0)
  if (filled.length <= 1) return filled[0] ?? []
  return filled.flat().sort((a, b) => a.run_at - b.run_at || a.id - b.id)
}

class LimitedChoice {
  private readonly session: Session
  private readonly policies: EffectivePolicies
  private readonly turns: Turns
  private readonly room: ClaimRoom
  private readonly takings = new Map<string, Taking[]>()
  private readonly lookedAt: (() => void)[] = []
  private readonly served: (() => void)[] = []

  constructor(session: Session, policies: EffectivePolicies, turns: Turns) {
    this.session = session
    this.policies = policies
    this.turns = turns
    this.room = new ClaimRoom(policies)
  }

  tasks(types: readonly string[], limit: number): DueTask[] {
    this.room.count(this.session.all<LeaseCount>(countLeased))
    for (const type of types) this.limitRate(type)
    const chosen: DueTask[] = []
    for (let priority = 0; priority < taskLimits.priorities; priority++) {
      const wanted = Math.min(limit - chosen.length, this.room.ofQueue())
      if (wanted <= 0) break
      const open = types.filter((type) => this.room.ofType(type) > 0)
      for (const task of merged(open.map((type) => this.ofType(type, priority, wanted)))) {
        if (chosen.length === limit) break
        if (this.room.ofOwner(task.type, task.owner) <= 0) continue
        this.room.take(task.type, task.owner)
        if (this.policies.ofType(task.type).fair)
          this.served.push(() => this.turns.leave(priority, task.type, task.owner))
        chosen.push(task)
      }
    }
    return chosen
  }

  limitedBy(types: readonly string[]): LimitedBy {
    return this.room.heldBackBy(types, types)
  }

  record(): void {
    const { at } = this.session
    this.passOn()
    for (const leave of this.served) leave()
    for (const [type, takings] of this.takings) {
      const { rate } = this.policies.ofType(type)
      const count = this.room.takenOf(type)
      if (!rate || count === 0) continue
      this.session.run(writeRate, { type, count, at, taken: takingsText(withinPeriod(takings, at, rate)) })
    }
  }

  passOn(): void {
    for (const leave of this.lookedAt) leave()
  }

  private limitRate(type: string): void {
    const { rate } = this.policies.ofType(type)
    if (!rate) return
    const gate = this.session.get<{ amount: number; at: number | null; taken: string | null }>(findRate, { type })
    const last = gate && gate.at !== null ? [{ at: gate.at, count: gate.amount }] : []
    const takings = [...takingsOf(gate?.taken ?? null), ...last]
    this.takings.set(type, takings)
    this.room.limitRate(type, roomInRate(takings, this.session.at, rate))
  }

  private ofType(type: string, priority: number, wanted: number): DueTask[] {
    const { at } = this.session
    const most = Math.min(wanted, this.room.ofType(type))
    const { fair } = this.policies.ofType(type)
    if (!fair && !this.policies.limitsOwners) {
      const rows = this.session.all<Row>(dueOfOneRange, { type, priority, at, limit: most })
      return rows.map((row) => ({ ...row, type, owner: '' }))
    }
    const lanes = this.owners(type, priority).map((owner) => {
      const limit = Math.min(most, this.room.ofOwner(type, owner))
      const rows = this.session.all<Row>(dueOfOneOwner, { type, priority, owner, at, limit })
      return rows.map((row) => ({ ...row, type, owner }))
    })
    return fair ? inTurns(lanes) : merged(lanes)
  }

  /** Those with a due task and with room: from the one after the last served on to the last, then from the first on, until there are enough. */
  private owners(type: string, priority: number): string[] {
    const owners: string[] = []
    const seen = new Set<string>()
    let last = this.turns.after(priority, type)
    let isRound = last === undefined
    for (let jumps = 0; owners.length < mostLanes && jumps < mostJumps; jumps++) {
      const found = this.ownerAfter(last, { type, priority })
      if (!found && !isRound) {
        isRound = true
        last = undefined
        continue
      }
      if (!found || seen.has(found.owner)) return owners
      const { owner, run_at: runAt } = found
      this.room.admitOwner(owner)
      if (runAt <= this.session.at && this.room.ofOwner(type, owner) > 0) owners.push(owner)
      seen.add(owner)
      last = owner
    }
    const end = last ?? ''
    this.lookedAt.push(() => this.turns.leave(priority, type, end))
    return owners
  }

  private ownerAfter(last: string | undefined, range: { readonly type: string; readonly priority: number }) {
    const statement = last === undefined ? firstOwner : nextOwner
    return this.session.get<{ owner: string; run_at: number }>(statement, { ...range, owner: last ?? '' })
  }
}

/** One of each owner, then another of each. They stand where the longest due of them stand, so that types are merged as ever. */
function inTurns(lanes: readonly DueTask[][]): DueTask[] {
  const longest = Math.max(0, ...lanes.map((lane) => lane.length))
  const order = Array.from({ length: longest }, (_, round) => lanes.flatMap((lane) => lane.slice(round, round + 1)))
  const places = merged([...lanes])
  return order.flat().map((task, index) => ({ ...task, run_at: places[index]?.run_at ?? task.run_at }))
}
