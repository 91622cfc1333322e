import { DepthSum, type ProbeLimit, type QueueReading, type TaskState } from '../../kernel/index.ts'
import type { Session } from './queue-file.ts'

/** Types and states that are looked at. */
const mostGroups = 300
/** Tasks that one type and state, and all of them together, are counted up to; however many there are, each is counted so far. */
export const mostCounted = { group: 50_000, all: 200_000, least: 1_000 } as const

const live = 'FROM taskdeck_task INDEXED BY taskdeck_task_live WHERE finished_at IS NULL'

/** Which type and state comes first among the tasks that have not ended, and which comes next: one dive, however many tasks it holds. */
export const firstGroup = `SELECT type, state ${live} ORDER BY type, state LIMIT 1`
export const nextGroup = `SELECT type, state ${live} AND (type, state) > (:type, :state) ORDER BY type, state LIMIT 1`

export const groupSize = `
SELECT COUNT(*) AS count FROM (SELECT 1 ${live} AND type = :type AND state = :state LIMIT :limit)`

interface Group {
  readonly type: string
  readonly state: TaskState
}

/** How many tasks have not ended: of a long queue at least so many. */
export function readDepth(session: Session): { depth: QueueReading['depth']; limits: ProbeLimit[] } {
  const sum = new DepthSum()
  let left: number = mostCounted.all
  let group = session.get<Group>(firstGroup)
  for (let groups = 0; group && groups < mostGroups; groups++) {
    const { type, state } = group
    const most = Math.max(mostCounted.least, Math.min(mostCounted.group, left))
    const count = session.get<{ count: number }>(groupSize, { type, state, limit: most + 1 })?.count ?? 0
    sum.add(type, state, Math.min(count, most), count > most ? 'atLeast' : 'exact')
    left -= Math.min(count, most)
    group = session.get<Group>(nextGroup, { type, state })
  }
  return { depth: sum.depth, limits: group ? [{ probe: 'depth', reason: 'budget', index: null }] : [] }
}
