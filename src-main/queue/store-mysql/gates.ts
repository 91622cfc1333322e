import type { Policy, SqlRunner } from '../../kernel/index.ts'
import type { LeaseCount } from '../claim-room.ts'
import { takingsOf, takingsText, withinPeriod, type Taking } from '../rate-window.ts'
import { storedName } from './policies.ts'
import { count, countOrNull, text, textOrNull } from './row-values.ts'
import { chunksOf, leased, marks, padded, perLength } from './statement-text.ts'

/*
 * A gate is a row that is locked while a limit is checked and taken up. Order of the locks, so that no two transactions wait for each
 * other: RUN and RATE before tasks, the queue's, then those of types, then those of owners, each sorted; RETRY after all tasks; QUOTA as in
 * quotas.ts (decision 0011).
 */

type GateScope = 'QUEUE' | 'TYPE' | 'OWNER'
type GateKind = 'RUN' | 'RATE' | 'RETRY'

export interface Gate {
  readonly amount: number
  /** Microseconds since the epoch; null before the first use. */
  readonly at: number | null
  readonly taken: string | null
  /** Microseconds since the epoch, when it was locked. */
  readonly now: number
}

const epochUs = (time: string): string => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${time})`

const selectGates = (length: number, columns: string): string => `
SELECT ${columns} FROM taskdeck_gate FORCE INDEX (PRIMARY)
WHERE kind = ? AND scope = ? AND name IN (${marks(length)}) ORDER BY name`

const gateColumns = `name, amount, ${epochUs('at')} AS at_us, taken, ${epochUs('NOW(6)')} AS now_us`

/** A gate that another transaction holds is passed over: it is left for the next poll, and nobody queues up behind it. */
export const lockAvailableGates = perLength((length) => `${selectGates(length, gateColumns)} FOR UPDATE SKIP LOCKED`)
const findGates = perLength((length) => selectGates(length, 'name'))

/**
 * Makes those that are missing and locks all, one after the other, in one statement: a look before it would leave out what another process
 * makes in between, or lock it too late in the order. IGNORE would share a gate that is there, and two who share it deadlock over it.
 */
const lockGates = perLength(
  (length) => `
INSERT INTO taskdeck_gate (kind, scope, name) VALUES ${marks(length, '(?, ?, ?)')}
ON DUPLICATE KEY UPDATE amount = amount`
)

/** Names that one statement may hold. */
const mostNames = 256

/** After the claim's UPDATE: the time is not before the one at which the tasks began. */
const writeRate = `
UPDATE taskdeck_gate SET amount = ?, at = NOW(6), taken = ? WHERE kind = 'RATE' AND scope = 'TYPE' AND name = ?`

/**
 * What is leased now, an expired lease too until it is recovered. Read after the gates were locked: on READ COMMITTED it sees all that
 * those took who held them before.
 */
export const countLeased = `
SELECT type, owner, COUNT(*) AS n FROM taskdeck_task FORCE INDEX (taskdeck_task_lease)
WHERE lease_until IS NOT NULL AND state IN (${leased}) GROUP BY type, owner`

export async function countLeases(runner: SqlRunner): Promise<LeaseCount[]> {
  const { rows } = await runner.execute(countLeased)
  return rows.map((row) => ({
    type: storedName(text(row, 'type')),
    owner: storedName(text(row, 'owner')),
    count: count(row, 'n')
  }))
}

/** The gate of the whole queue: claims go through one after the other. */
export const lockQueueGate = (runner: SqlRunner): Promise<void> =>
  lockInOrder(runner, { kind: 'RUN', scope: 'QUEUE', names: [''] })

/** The retry budgets of types, waiting for who holds them. */
export async function lockBudgets(runner: SqlRunner, types: readonly string[]): Promise<Map<string, Gate>> {
  const wanted: Wanted = { kind: 'RETRY', scope: 'TYPE', names: [...new Set(types)].sort() }
  await lockInOrder(runner, wanted)
  return lockAvailableOf(runner, wanted)
}

interface WantedTypes {
  readonly kind: 'RUN' | 'RATE'
  readonly types: readonly string[]
  /** Gates that are known to be there; those that are found are added. */
  readonly made: Set<string>
}

/** Before any task: those of the named gates that nobody else holds. */
export async function lockAvailable(runner: SqlRunner, { kind, types, made }: WantedTypes): Promise<Map<string, Gate>> {
  const wanted: Wanted = { kind, scope: 'TYPE', names: [...new Set(types)].sort() }
  const locked = await lockAvailableOf(runner, wanted)
  const absent = wanted.names.filter((name) => !locked.has(name) && !made.has(`${kind} ${name}`))
  const missing = await findMissing(runner, { ...wanted, names: absent })
  for (const name of wanted.names) if (!missing.includes(name)) made.add(`${kind} ${name}`)
  await lockInOrder(runner, { ...wanted, names: missing })
  for (const [name, gate] of await lockAvailableOf(runner, { ...wanted, names: missing })) locked.set(name, gate)
  return locked
}

/**
 * Owners with a gate of RUN that nobody else holds, and those that have none. It is not made here: tasks may be locked by now, and an INSERT
 * waits for whoever is making the same gate.
 */
export async function lockAvailableOwners(
  runner: SqlRunner,
  owners: readonly string[]
): Promise<{ readonly locked: readonly string[]; readonly missing: readonly string[] }> {
  const wanted: Wanted = { kind: 'RUN', scope: 'OWNER', names: [...new Set(owners)].sort() }
  const locked = await lockAvailableOf(runner, wanted)
  const others = wanted.names.filter((owner) => !locked.has(owner))
  return { locked: [...locked.keys()], missing: await findMissing(runner, { ...wanted, names: others }) }
}

/** Outside of any transaction: it holds nothing any more once it returns. */
export async function makeOwnerGates(database: SqlRunner, owners: readonly string[]): Promise<void> {
  const wanted: Wanted = { kind: 'RUN', scope: 'OWNER', names: [...owners].sort() }
  await lockInOrder(database, { ...wanted, names: await findMissing(database, wanted) })
}

interface Wanted {
  readonly kind: GateKind
  readonly scope: GateScope
  /** Sorted. */
  readonly names: readonly string[]
}

async function lockInOrder(runner: SqlRunner, { kind, scope, names }: Wanted): Promise<void> {
  for (const some of chunksOf(names, mostNames)) {
    const list = padded(some)
    const values = list.flatMap((name) => [kind, scope, name])
    await runner.execute(lockGates(list.length), values)
  }
}

/** Those that this transaction holds already too. */
async function lockAvailableOf(runner: SqlRunner, { kind, scope, names }: Wanted): Promise<Map<string, Gate>> {
  const locked = new Map<string, Gate>()
  for (const some of chunksOf(names, mostNames)) {
    const list = padded(some)
    const { rows } = await runner.execute(lockAvailableGates(list.length), [kind, scope, ...list])
    for (const row of rows)
      locked.set(text(row, 'name'), {
        amount: count(row, 'amount'),
        at: countOrNull(row, 'at_us'),
        taken: textOrNull(row, 'taken'),
        now: count(row, 'now_us')
      })
  }
  return locked
}

/** Without locks: an INSERT of a gate that is there would wait for who holds it. */
async function findMissing(runner: SqlRunner, { kind, scope, names }: Wanted): Promise<string[]> {
  const known = new Set<string>()
  for (const some of chunksOf(names, mostNames)) {
    const list = padded(some)
    const { rows } = await runner.execute(findGates(list.length), [kind, scope, ...list])
    for (const row of rows) known.add(text(row, 'name'))
  }
  return names.filter((name) => !known.has(name))
}

/** What still counts against a rate: what was taken last is in columns of its own, with the time of its statement. */
export function takingsOfGate(gate: Gate): Taking[] {
  const earlier = takingsOf(gate.taken)
  return gate.at === null ? earlier : [...earlier, { at: gate.at, count: gate.amount }]
}

export async function recordTaking(
  runner: SqlRunner,
  type: string,
  taking: { readonly gate: Gate; readonly count: number; readonly rate: NonNullable<Policy['rate']> }
): Promise<void> {
  const { gate, rate } = taking
  const kept = withinPeriod(takingsOfGate(gate), gate.now, rate)
  await runner.execute(writeRate, [taking.count, takingsText(kept), type])
}
