import type { SqlValue } from '../../kernel/index.ts'
import { nextGroup } from './claim-groups.ts'
import { lockGroup, lockOwner } from './claim-lanes.ts'

/** One statement of the claim, with values to plan it for, and the index that it needs. */
export interface ClaimStatement {
  readonly name: 'groups' | 'claim' | 'claimOwner'
  readonly sql: string
  readonly values: readonly SqlValue[]
  readonly index: { readonly name: string; readonly columns: string }
}

const claimIndex = { name: 'taskdeck_task_claim', columns: 'claim_rank, type, run_at, id, state' }
const turnIndex = { name: 'taskdeck_task_turn', columns: 'claim_rank, type, owner, run_at, id' }
/** Before every due time: the whole range, as after a full look. */
const noFloor = '1970-01-01 00:00:00.000000'

/** The very texts that claims send, for whoever wants to see their plans. `type` and `priority` of tasks that wait make estimates real. */
export function claimStatements({
  type,
  priority,
  batch
}: {
  type: string
  priority: number
  batch: number
}): ClaimStatement[] {
  return [
    { name: 'groups', sql: nextGroup, values: [priority, type, priority], index: claimIndex },
    { name: 'claim', sql: lockGroup, values: [priority, type, noFloor, batch], index: claimIndex },
    { name: 'claimOwner', sql: lockOwner, values: [priority, type, '', noFloor, batch], index: turnIndex }
  ]
}
