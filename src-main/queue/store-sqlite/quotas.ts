import type { NewTask } from '../../kernel/index.ts'
import { quotaDemands, requireRoom, type QuotaScope, type StoredQuota } from '../quota.ts'
import { mostPolicies } from '../stored-policy.ts'
import type { Parameters, Session } from './queue-file.ts'

const findQuotas = `
SELECT scope, name, max_unfinished AS "limit", '' AS setAt FROM taskdeck_policy WHERE max_unfinished IS NOT NULL
  LIMIT ${mostPolicies}`

/** Counted up to the limit: beyond it there is no room anyway. */
const counted = (index: string, where: string): string => `
SELECT COUNT(*) AS n FROM (
  SELECT 1 FROM taskdeck_task INDEXED BY ${index} WHERE finished_at IS NULL${where} LIMIT :limit)`

export const countUnfinished: Readonly<Record<QuotaScope, string>> = {
  QUEUE: counted('taskdeck_task_live', ''),
  TYPE: counted('taskdeck_task_live', ' AND type = :name'),
  OWNER: counted('taskdeck_task_owner', ' AND owner = :name')
}

/** Throws QUOTA_EXCEEDED unless there is room for all of these. Nobody else writes meanwhile: what is counted here holds until the end. */
export function requireQuotas(session: Session, tasks: readonly NewTask[]): void {
  const stored = session.all<StoredQuota>(findQuotas)
  for (const demand of quotaDemands(stored, tasks)) {
    const { scope, name, limit } = demand
    const parameters: Parameters = scope === 'QUEUE' ? { limit } : { limit, name }
    requireRoom(demand, limit - (session.get<{ n: number }>(countUnfinished[scope], parameters)?.n ?? 0))
  }
}
