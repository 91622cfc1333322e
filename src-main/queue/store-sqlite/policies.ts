import { policyScope, type Policy, type PolicyInput, type PolicyScope } from '../../kernel/index.ts'
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
import type { QueueFile, Session } from './queue-file.ts'

const readAll = `
SELECT scope, name, enabled, max_running, max_unfinished, rate_count, rate_period_ms, max_attempts, retry_policy,
  retries_per_minute, timeout_ms, lease_ms, fair
FROM taskdeck_policy ORDER BY scope, name LIMIT ${mostPolicies}`

const others = 'SELECT COUNT(*) AS n FROM taskdeck_policy WHERE NOT (scope = :scope AND name = :name)'

/** All of it anew: what is not given is not set. */
const write = `
INSERT OR REPLACE INTO taskdeck_policy (
  scope, name, enabled, max_running, max_unfinished, rate_count, rate_period_ms, max_attempts, retry_policy,
  retries_per_minute, timeout_ms, lease_ms, fair, updated_at
) VALUES (
  :scope, :name, :enabled, :maxRunning, :maxUnfinished, :rateCount, :ratePeriodMs, :maxAttempts, :retryPolicy,
  :retriesPerMinute, :timeoutMs, :leaseMs, :fair, :at
)`

/** Only the names come back: a task may have a payload of a megabyte. */
const schedulesNaming = `
SELECT name FROM taskdeck_schedule
WHERE CASE WHEN json_valid(task) THEN json_extract(task, '$.retryPolicy.name') END = :name
ORDER BY name LIMIT ${scheduleLimits.inAll}`

interface PolicyRow {
  readonly scope: string
  readonly name: string
  readonly enabled: number | null
  readonly max_running: number | null
  readonly max_unfinished: number | null
  readonly rate_count: number | null
  readonly rate_period_ms: number | null
  readonly max_attempts: number | null
  readonly retry_policy: string | null
  readonly retries_per_minute: number | null
  readonly timeout_ms: number | null
  readonly lease_ms: number | null
  readonly fair: number | null
}

/** Those that are set, by scope and name. */
export const readPolicies = (session: Session): Policy[] => session.all<PolicyRow>(readAll).flatMap(toPolicy)

export const effectivePolicies = (session: Session): EffectivePolicies => {
  const policies = readPolicies(session)
  return policies.length === 0 ? EffectivePolicies.none : new EffectivePolicies(policies)
}

/** Throws INVALID_INPUT. */
export async function setPolicy(file: QueueFile, input: PolicyInput): Promise<void> {
  const { enabled, rate, retryPolicy, fair, ...plain } = validatePolicy(input)
  await file.write((session) => {
    const { scope, name } = plain
    requireKnownDelays('The policy cannot be set', retryPolicy, delaysAmong(readPolicies(session)))
    if ((session.get<{ n: number }>(others, { scope, name })?.n ?? 0) >= mostPolicies) throw tooManyPolicies()
    session.run(write, {
      ...plain,
      at: session.at,
      enabled: bitOrNull(enabled),
      rateCount: rate?.count ?? null,
      ratePeriodMs: rate?.periodMs ?? null,
      retryPolicy: retryPolicy === null ? null : JSON.stringify(retryPolicy),
      fair: bitOrNull(fair)
    })
  })
}

export const removePolicy = (file: QueueFile, scope: PolicyScope, name: string): Promise<boolean> =>
  file.write((session) => {
    if (scope === 'DELAYS') requireUnused(name, readPolicies(session), namingSchedules(session, name))
    const remove = 'DELETE FROM taskdeck_policy WHERE scope = :scope AND name = :name'
    return session.run(remove, { scope, name }).changes > 0
  })

const namingSchedules = (session: Session, name: string): string[] =>
  session.all<{ name: string }>(schedulesNaming, { name }).map((row) => row.name)

/** None for a row of a scope that we do not know: someone else wrote it. */
function toPolicy(row: PolicyRow): Policy[] {
  const scope = policyScope.safeParse(row.scope)
  if (!scope.success) return []
  return [
    {
      scope: scope.data,
      name: row.name,
      enabled: isSetOrNull(row.enabled),
      maxRunning: row.max_running,
      maxUnfinished: row.max_unfinished,
      rate: storedRate(row.rate_count, row.rate_period_ms),
      maxAttempts: setOrNull(row.max_attempts, 'maxAttempts'),
      retryPolicy: retryPolicyOrNull(row.retry_policy),
      retriesPerMinute: setOrNull(row.retries_per_minute, 'retriesPerMinute'),
      timeoutMs: setOrNull(row.timeout_ms, 'timeoutMs'),
      leaseMs: setOrNull(row.lease_ms, 'leaseMs'),
      fair: isSetOrNull(row.fair)
    }
  ]
}
