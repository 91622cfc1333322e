import {
  policyScope,
  type Policy,
  type PolicyInput,
  type PolicyScope,
  type RetryChoice,
  type SqlDatabase,
  type SqlRow,
  type SqlRunner
} from '../../kernel/index.ts'
import { EffectivePolicies } from '../effective-policy.ts'
import { delaysAmong, requireKnownDelays, requireUnused } from '../named-delays.ts'
import { scheduleLimits } from '../schedules.ts'
import {
  bitOrNull,
  isSetOrNull,
  mostPolicies,
  retryPolicyOrNull,
  setOrNull,
  storedRate,
  tooManyPolicies,
  validatePolicy
} from '../stored-policy.ts'
import { anyAffected, repeatable } from './repeatable.ts'
import { count, countOrNull, text, textOrNull } from './row-values.ts'

const columns = `scope, name, enabled, max_running, max_unfinished, rate_count, rate_period_ms, max_attempts, retry_policy,
  retries_per_minute, timeout_ms, lease_ms, fair`

const readAll = `SELECT ${columns} FROM taskdeck_policy ORDER BY scope, name LIMIT ${mostPolicies}`
const others = 'SELECT COUNT(*) AS n FROM taskdeck_policy WHERE NOT (scope = ? AND name = ?)'
/** All of it anew: what is not given is not set. */
const write = `REPLACE INTO taskdeck_policy (${columns}, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NOW(6))`
const remove = 'DELETE FROM taskdeck_policy WHERE scope = ? AND name = ?'
/** Of all policies these alone are locked: by who removes them and by who begins to name them. */
const lockDelays = "SELECT name FROM taskdeck_policy WHERE scope = 'DELAYS' AND name = ? FOR UPDATE"
/** Only the names come back: a task may have a payload of a megabyte. */
const schedulesNaming = `
SELECT name FROM taskdeck_schedule
WHERE IF(JSON_VALID(task), JSON_UNQUOTE(JSON_EXTRACT(task, '$.retryPolicy.name')), NULL) = ?
ORDER BY name LIMIT ${scheduleLimits.inAll}`

/** Those that are set, by scope and name. */
export async function readPolicies(runner: SqlRunner): Promise<Policy[]> {
  return (await runner.execute(readAll)).rows.flatMap(toPolicy)
}

export const effectivePolicies = async (runner: SqlRunner): Promise<EffectivePolicies> => {
  const policies = await readPolicies(runner)
  return policies.length === 0 ? EffectivePolicies.none : new EffectivePolicies(policies)
}

/** Throws INVALID_INPUT. */
export async function setPolicy(database: SqlDatabase, input: PolicyInput): Promise<void> {
  const policy = validatePolicy(input)
  const scope = [policy.scope, storedName(policy.name)] as const
  const values = [
    ...scope,
    bitOrNull(policy.enabled),
    policy.maxRunning,
    policy.maxUnfinished,
    policy.rate?.count ?? null,
    policy.rate?.periodMs ?? null,
    policy.maxAttempts,
    policy.retryPolicy === null ? null : JSON.stringify(policy.retryPolicy),
    policy.retriesPerMinute,
    policy.timeoutMs,
    policy.leaseMs,
    bitOrNull(policy.fair)
  ]
  await database.transaction(async (runner) => {
    await lockNamed(runner, 'The policy cannot be set', policy.retryPolicy)
    const [row] = (await runner.execute(others, scope)).rows
    if (row && count(row, 'n') >= mostPolicies) throw tooManyPolicies()
    await runner.execute(write, values)
  }, repeatable)
}

export async function removePolicy(database: SqlDatabase, scope: PolicyScope, name: string): Promise<boolean> {
  const stored = storedName(name)
  const checkUse = async (runner: SqlRunner): Promise<void> => {
    await runner.execute(lockDelays, [stored])
    requireUnused(stored, await readPolicies(runner), await namingSchedules(runner, stored))
  }
  return anyAffected(database, remove, [scope, stored], scope === 'DELAYS' ? checkUse : undefined)
}

const namingSchedules = async (runner: SqlRunner, name: string): Promise<string[]> =>
  (await runner.execute(schedulesNaming, [name])).rows.map((row) => text(row, 'name'))

/** What is named stays until the transaction ends. Throws INVALID_INPUT that begins with `what` when it is not there. */
export async function lockNamed(runner: SqlRunner, what: string, choice: RetryChoice | null): Promise<void> {
  if (choice?.kind !== 'named') return
  await runner.execute(lockDelays, [storedName(choice.name)])
  requireKnownDelays(what, choice, delaysAmong(await readPolicies(runner)))
}

/** The columns' collation takes names for the same that differ only in spaces at their end; here they are cut off instead. */
export const storedName = (name: string): string => name.replace(/ +$/, '')

/** None for a row of a scope that we do not know: someone else wrote it. */
function toPolicy(row: SqlRow): Policy[] {
  const scope = policyScope.safeParse(row['scope'])
  if (!scope.success) return []
  return [
    {
      scope: scope.data,
      name: storedName(text(row, 'name')),
      enabled: isSetOrNull(countOrNull(row, 'enabled')),
      maxRunning: countOrNull(row, 'max_running'),
      maxUnfinished: countOrNull(row, 'max_unfinished'),
      rate: storedRate(countOrNull(row, 'rate_count'), countOrNull(row, 'rate_period_ms')),
      maxAttempts: setOrNull(countOrNull(row, 'max_attempts'), 'maxAttempts'),
      retryPolicy: retryPolicyOrNull(textOrNull(row, 'retry_policy')),
      retriesPerMinute: setOrNull(countOrNull(row, 'retries_per_minute'), 'retriesPerMinute'),
      timeoutMs: setOrNull(countOrNull(row, 'timeout_ms'), 'timeoutMs'),
      leaseMs: setOrNull(countOrNull(row, 'lease_ms'), 'leaseMs'),
      fair: isSetOrNull(countOrNull(row, 'fair'))
    }
  ]
}
