import type { NewTask, SqlRunner, SqlValue } from '../../kernel/index.ts'
import { keyOf, quotaDemands, requireRoom, type QuotaDemand, type QuotaScope, type StoredQuota } from '../quota.ts'
import { mostPolicies } from '../stored-policy.ts'
import { storedName } from './policies.ts'
import { count, text, textOrNull } from './row-values.ts'
import { chunksOf, marks, padded, perLength, powerChunks } from './statement-text.ts'

/*
 * A submission locks the gates of the quotas that concern it before it writes, so submitters of one type or owner pass one after the
 * other while a quota is set. A gate remembers how much room the last count left: tasks that end make it too small, never too large,
 * and when it does not suffice the unfinished tasks are counted again. An operator's retry adds one past the quota: it makes the next
 * submission count. Gates are locked in the order of "SCOPE name", before any task.
 */

/** Gates of one statement at most. */
const mostGates = 256

export const findQuotas = `
SELECT scope, name, max_unfinished, updated_at FROM taskdeck_policy WHERE max_unfinished IS NOT NULL LIMIT ${mostPolicies}`

const lockGates = perLength(
  (length) => `
INSERT INTO taskdeck_gate (kind, scope, name, amount, at) VALUES ${marks(length, "('QUOTA', ?, ?, 0, NULL)")}
ON DUPLICATE KEY UPDATE kind = 'QUOTA'`
)

const readGates = perLength(
  (length) => `
SELECT scope, name, amount, at FROM taskdeck_gate
WHERE (kind, scope, name) IN (${marks(length, "('QUOTA', ?, ?)")})`
)

const writeGates = perLength(
  (length) => `
INSERT INTO taskdeck_gate (kind, scope, name, amount, at) VALUES ${marks(length, "('QUOTA', ?, ?, ?, ?)")}
ON DUPLICATE KEY UPDATE amount = VALUES(amount), at = VALUES(at)`
)

const forgetRoom = perLength(
  (length) => `
INSERT INTO taskdeck_gate (kind, scope, name, amount, at) VALUES ${marks(length, "('QUOTA', ?, ?, 0, NULL)")}
ON DUPLICATE KEY UPDATE at = NULL`
)

/** Only what has not ended has no finished_at. */
const unfinished = 'FROM taskdeck_task FORCE INDEX (taskdeck_task_finished) WHERE finished_at IS NULL'
const counted = (where: string): string => `SELECT COUNT(*) AS n FROM (SELECT 1 ${unfinished}${where} LIMIT ?) AS found`
export const countAll = counted('')
export const countType = counted(' AND type = ?')
export const countOwnerOfType = counted(' AND type = ? AND owner = ?')
/** From type to type: the index has no range of one owner, but few types. */
export const nextUnfinishedType = `SELECT type ${unfinished} AND type > ? ORDER BY type LIMIT 1`

export async function readQuotas(runner: SqlRunner): Promise<StoredQuota[]> {
  const { rows } = await runner.execute(findQuotas)
  return rows.map((row) => ({
    scope: text(row, 'scope') as QuotaScope,
    name: storedName(text(row, 'name')),
    limit: count(row, 'max_unfinished'),
    setAt: text(row, 'updated_at')
  }))
}

type Counted = Pick<NewTask, 'type' | 'owner'>

export const demandsOf = (quotas: readonly StoredQuota[], tasks: readonly Counted[]): QuotaDemand[] =>
  quotaDemands(
    quotas,
    tasks.map(({ type, owner }) => ({ type, owner: storedName(owner) }))
  )

/** Until the transaction ends nobody else takes up room of these. */
export async function lockQuotas(runner: SqlRunner, demands: readonly QuotaDemand[]): Promise<void> {
  for (const chunk of powerChunks(demands, mostGates)) await runner.execute(lockGates(chunk.length), namesOf(chunk))
}

/** Takes the room, or throws QUOTA_EXCEEDED. The gates are locked. */
export async function takeQuotas(runner: SqlRunner, demands: readonly QuotaDemand[]): Promise<void> {
  const gates = await readRoom(runner, demands)
  const left: SqlValue[][] = []
  for (const demand of demands) {
    const gate = gates.get(keyOf(demand))
    const isCurrent = gate?.countedFor === demand.setAt
    let room = isCurrent ? gate.room : Number.NEGATIVE_INFINITY
    if (room < demand.wanted) room = demand.limit - (await countUnfinished(runner, demand))
    requireRoom(demand, room)
    left.push([demand.scope, demand.name, room - demand.wanted, demand.setAt])
  }
  for (const chunk of powerChunks(left, mostGates)) await runner.execute(writeGates(chunk.length), chunk.flat())
}

/** For a task that becomes unfinished again, whatever the quota says. Before the task is locked. */
export async function countAgain(runner: SqlRunner, tasks: readonly Counted[]): Promise<void> {
  const demands = demandsOf(await readQuotas(runner), tasks)
  for (const chunk of powerChunks(demands, mostGates)) await runner.execute(forgetRoom(chunk.length), namesOf(chunk))
}

async function readRoom(
  runner: SqlRunner,
  demands: readonly QuotaDemand[]
): Promise<Map<string, { readonly room: number; readonly countedFor: string | null }>> {
  const gates = new Map<string, { room: number; countedFor: string | null }>()
  for (const chunk of chunksOf(demands, mostGates)) {
    const list = padded(chunk)
    const { rows } = await runner.execute(readGates(list.length), namesOf(list))
    for (const row of rows) {
      const key = keyOf({ scope: text(row, 'scope') as QuotaScope, name: text(row, 'name') })
      gates.set(key, { room: count(row, 'amount'), countedFor: textOrNull(row, 'at') })
    }
  }
  return gates
}

/** At most up to the limit: beyond it there is no room anyway. */
async function countUnfinished(runner: SqlRunner, { scope, name, limit }: QuotaDemand): Promise<number> {
  const number = async (sql: string, values: SqlValue[]): Promise<number> =>
    count((await runner.execute(sql, values)).rows[0] ?? {}, 'n')
  if (scope === 'QUEUE') return number(countAll, [limit])
  if (scope === 'TYPE') return number(countType, [name, limit])
  let found = 0
  let type = ''
  while (found < limit) {
    const [next] = (await runner.execute(nextUnfinishedType, [type])).rows
    if (!next) return found
    type = text(next, 'type')
    found += await number(countOwnerOfType, [type, name, limit - found])
  }
  return found
}

const namesOf = (demands: readonly QuotaDemand[]): SqlValue[] => demands.flatMap(({ scope, name }) => [scope, name])
