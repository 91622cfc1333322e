import { AppError, explain, type SqlDatabase } from '../../kernel/index.ts'
import { missingSchema } from '../schema-errors.ts'
import { lockGroup } from './claim-lanes.ts'
import { text, textOrNull } from './row-values.ts'

const claimIndex = 'taskdeck_task_claim'

/** Filter, order and id of the claim, in this order; more may follow. */
const claimColumns = 'claim_rank,type,run_at,id'

const indexesOfTasks = `
SELECT index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS parts
FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'taskdeck_task' GROUP BY index_name`

/**
 * Once, when a store opens: without its index the claim would sort and lock every waiting task. Throws SCHEMA_MISSING when there are no
 * tables, SCHEMA_BROKEN when the claim's index is gone, has other columns, or is not used in its own order.
 */
export async function checkClaimPlan(database: SqlDatabase): Promise<void> {
  const { rows: indexes } = await database.execute(indexesOfTasks)
  if (indexes.length === 0) throw missingSchema('This database')
  const index = indexes.find((row) => text(row, 'name') === claimIndex)
  if (!index) throw brokenPlan('it is missing')
  if (!`${text(index, 'parts')},`.startsWith(`${claimColumns},`)) throw brokenPlan('it has other columns')
  const { rows } = await database.execute(explain(lockGroup), [0, 'a', '1970-01-01 00:00:00.000000', 1])
  const [plan] = rows
  if (!plan || textOrNull(plan, 'key') !== claimIndex) throw brokenPlan('the server does not use it')
  if (/filesort|temporary/i.test(textOrNull(plan, 'Extra') ?? '')) throw brokenPlan('the server sorts instead')
}

const brokenPlan = (reason: string): AppError =>
  new AppError(
    'SCHEMA_BROKEN',
    'user',
    `The index ${claimIndex} of table taskdeck_task cannot serve the claim: ${reason}. Create it again as the migration does.`,
    { details: { index: claimIndex } }
  )
