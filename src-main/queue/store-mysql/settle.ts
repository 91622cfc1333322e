import { type Clock, type Fence, type SqlDatabase, type SqlRunner, type TaskState } from '../../kernel/index.ts'
import { tellDependents } from '../dependents.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { clampDelay, resolveSettlement, stateAfterRepeat } from '../retry.ts'
import { storableArtifact, storableError, storableProgress, storableResult } from '../stored-text.ts'
import type { NewArtifact, SettleResult, Settlement } from '../task-store.ts'
import { endAttempts, jsonBatches, type AttemptEnd } from './end-attempts.ts'
import type { SettledDependents } from './endings.ts'
import { holds, lockTasksOf, longestList, type LockedTask } from './held-leases.ts'
import { finishSome } from './noted-endings.ts'
import { effectivePolicies } from './policies.ts'
import { repeatable } from './repeatable.ts'
import { count, microseconds, rowId, text } from './row-values.ts'
import { chunksOf, marks, padded, perLength } from './statement-text.ts'

const findAttempts = perLength(
  (length) => `
SELECT task_id, attempt, worker_id, outcome FROM taskdeck_attempt FORCE INDEX (PRIMARY)
WHERE (task_id, attempt) IN (${marks(length, '(?, ?)')})`
)

const addArtifacts = `
INSERT INTO taskdeck_artifact (task_id, attempt, name, content_type, bytes, host, path, created_at, expires_at)
SELECT task.id, task.attempt, made.name, made.content_type, made.bytes, made.host, made.path, task.state_since,
  task.state_since + INTERVAL made.expires_us MICROSECOND
FROM JSON_TABLE(?, '$[*]' COLUMNS (
  position FOR ORDINALITY, id BIGINT UNSIGNED PATH '$.id', name VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.name',
  content_type VARCHAR(100) CHARACTER SET utf8mb4 PATH '$.contentType', bytes BIGINT UNSIGNED PATH '$.bytes',
  host VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.host', path VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$.path', expires_us BIGINT PATH '$.expiresUs'
)) AS made STRAIGHT_JOIN taskdeck_task AS task FORCE INDEX (PRIMARY) ON task.id = made.id
ORDER BY made.position`

interface Accepted {
  readonly settlement: Settlement
  readonly state: TaskState
  readonly hasDependents: boolean
}

/** One transaction for all. What another transaction ended first is refused; what this very settlement ended is accepted again. */
export async function settle(
  database: SqlDatabase,
  settlements: readonly Settlement[],
  clock: Clock
): Promise<SettleResult[]> {
  if (settlements.length === 0) return []
  let dependents: SettledDependents = { changed: [], isUnfinished: false }
  const work = async (runner: SqlRunner): Promise<SettleResult[]> => {
    const settled = await settleAll(runner, settlements, clock)
    // A run that ended nothing follows a lost reply: dependents are those of the run before.
    if (settled.dependents) dependents = settled.dependents
    return settled.results
  }
  // A repeat finds the attempts' rows, so a lost reply is answered by doing it again.
  const results = await database.transaction(work, repeatable)
  return tellDependents(results, await finishSome(database, dependents))
}

interface Settled {
  readonly results: SettleResult[]
  /** Undefined when none of the tasks was ended now. */
  readonly dependents: SettledDependents | undefined
}

async function settleAll(runner: SqlRunner, settlements: readonly Settlement[], clock: Clock): Promise<Settled> {
  const tasks = await lockTasksOf(
    runner,
    settlements.map(({ fence }) => fence)
  )
  const accepted = acceptable(settlements, tasks)
  const others = settlements.filter((settlement) => accepted.get(settlement.fence.taskId)?.settlement !== settlement)
  const repeated = await findRepeated(runner, others, accepted)
  const results = settlements.map((settlement) => {
    const { fence } = settlement
    const won = accepted.get(fence.taskId)
    if (won?.settlement === settlement) return { fence, state: won.state }
    const task = tasks.get(fence.taskId)
    if (!task || !repeated.has(settlement)) return { fence, state: undefined }
    return { fence, state: won?.state ?? stateAfterRepeat(settlement, task) }
  })
  const winners = [...accepted.values()]
  return { results, dependents: winners.length === 0 ? undefined : await end(runner, winners, { tasks, clock }) }
}

/** Of each task the first whose fence holds and that its state allows. */
function acceptable(
  settlements: readonly Settlement[],
  tasks: ReadonlyMap<string, LockedTask>
): ReadonlyMap<string, Accepted> {
  const accepted = new Map<string, Accepted>()
  for (const settlement of settlements) {
    const task = tasks.get(settlement.fence.taskId)
    if (accepted.has(settlement.fence.taskId) || !holds(task, settlement.fence)) continue
    const state = resolveSettlement(task.state, settlement)
    if (state === undefined) continue
    accepted.set(settlement.fence.taskId, { settlement, state, hasDependents: task.hasDependents })
  }
  return accepted
}

async function end(
  runner: SqlRunner,
  accepted: readonly Accepted[],
  { tasks, clock }: { readonly tasks: ReadonlyMap<string, LockedTask>; readonly clock: Clock }
): Promise<SettledDependents> {
  const ends = accepted.map(toEnd)
  const hasRetries = ends.some(({ delayMs }) => delayMs !== null)
  const policies = hasRetries ? await effectivePolicies(runner) : EffectivePolicies.none
  const typeOf = new Map([...tasks].map(([taskId, { type }]) => [taskId, type]))
  const dependents = await endAttempts(runner, ends, { policies, clock, typeOf })
  await storeArtifacts(runner, accepted)
  return dependents
}

/** Those whose attempt was ended by the same worker with the same outcome: the reply was lost, or the batch names them twice. */
async function findRepeated(
  runner: SqlRunner,
  settlements: readonly Settlement[],
  accepted: ReadonlyMap<string, Accepted>
): Promise<Set<Settlement>> {
  const isTwin = (settlement: Settlement): boolean => {
    const first = accepted.get(settlement.fence.taskId)?.settlement
    return first !== undefined && first.outcome === settlement.outcome && isSameFence(first.fence, settlement.fence)
  }
  const repeated = new Set(settlements.filter(isTwin))
  const known = settlements.filter((one) => !repeated.has(one) && rowId(one.fence.taskId) !== undefined)
  for (const chunk of chunksOf(known, longestList)) {
    const list = padded(chunk)
    const values = list.flatMap(({ fence }) => [BigInt(fence.taskId), fence.attempt])
    const { rows } = await runner.execute(findAttempts(list.length), values)
    const ended = new Map(rows.map((row) => [`${text(row, 'task_id')}/${count(row, 'attempt')}`, row]))
    for (const settlement of chunk) {
      const row = ended.get(attemptKey(settlement.fence))
      if (!row) continue
      if (text(row, 'worker_id') !== settlement.fence.workerId || text(row, 'outcome') !== settlement.outcome) continue
      repeated.add(settlement)
    }
  }
  return repeated
}

const attemptKey = (fence: Fence): string => `${fence.taskId}/${fence.attempt}`
const isSameFence = (a: Fence, b: Fence): boolean => attemptKey(a) === attemptKey(b) && a.workerId === b.workerId

function toEnd({ settlement, state, hasDependents }: Accepted): AttemptEnd {
  const { fence, outcome, progress } = settlement
  return {
    ...fence,
    outcome,
    state,
    delayMs: outcome === 'RETRY' && state === 'RETRY_WAIT' ? clampDelay(settlement.delayMs) : null,
    error: outcome === 'RETRY' || outcome === 'FAILED' ? storableError(settlement.error) : null,
    result: outcome === 'SUCCESS' || outcome === 'PARTIAL_SUCCESS' ? storableResult(settlement.result) : null,
    progress: progress ? storableProgress(progress) : null,
    hasDependents
  }
}

async function storeArtifacts(runner: SqlRunner, accepted: readonly Accepted[]): Promise<void> {
  const rows = accepted.flatMap(({ settlement }) =>
    (settlement.artifacts ?? []).map((artifact) => toArtifactJson(settlement.fence.taskId, artifact))
  )
  for (const { json } of jsonBatches(rows)) await runner.execute(addArtifacts, [json])
}

const toArtifactJson = (id: string, artifact: NewArtifact): object => ({
  id,
  ...storableArtifact(artifact),
  expiresUs: microseconds(clampDelay(artifact.expiresInMs))
})
