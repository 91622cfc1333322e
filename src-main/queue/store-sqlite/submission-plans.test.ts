import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { deadLetterFilter } from '../../kernel/index.ts'
import { pageOf, stepOf } from './dead-letters.ts'
import { openDependents } from './endings.ts'
import { countUnfinished } from './quotas.ts'
import { emptyQueue } from './test-file.fixture.ts'

async function planOf(sql: string, values: unknown): Promise<string> {
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const database = new Database(await emptyQueue(), nativeBinding ? { nativeBinding } : {})
  onTestFinished(() => void database.close())
  const rows = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(values)
  return rows.map((row) => row.detail).join('\n')
}

it.each([
  ['all', countUnfinished.QUEUE, 'SCAN taskdeck_task USING INDEX taskdeck_task_live'],
  ['a type', countUnfinished.TYPE, 'SEARCH taskdeck_task USING INDEX taskdeck_task_live (type=?)'],
  ['an owner', countUnfinished.OWNER, 'SEARCH taskdeck_task USING INDEX taskdeck_task_owner (owner=?)']
])('unfinished tasks of %s are counted in an index that holds nothing else', async (_, sql, plan) => {
  expect(await planOf(sql, { limit: 10, name: 'n' })).toContain(plan)
})

it('those that still wait for a task are found in the order of an index', async () => {
  const plan = await planOf(openDependents, { id: 1n, limit: 10 })
  expect(plan).toBe('SEARCH taskdeck_dependency USING INDEX taskdeck_dependency_waits_for (waits_for_id=?)')
})

const filter = deadLetterFilter.parse({})
const range = { after: 1n, upTo: 9n }

it.each([
  ['a page', pageOf(filter, null, 10), 'newest (resolution=?)'],
  ['a later page', pageOf(filter, 5n, 10), 'newest (resolution=? AND id<?)'],
  ['a page of some types', pageOf({ ...filter, types: ['a', 'b'] }, 5n, 10), 'newest (resolution=? AND id<?)'],
  ['a page of one type', pageOf({ ...filter, types: ['a'] }, 5n, 10), 'type (resolution=? AND type=? AND id<?)'],
  ['a step of many', stepOf(filter, range, 10), 'newest (resolution=? AND id>? AND id<?)'],
  [
    'a step of one type',
    stepOf({ ...filter, types: ['a'], errorCode: 'E' }, range, 10),
    'type (resolution=? AND type=?'
  ]
])('%s of dead letters is one range of its index, without a sort', async (_, { sql, values }, part) => {
  const plan = await planOf(sql, values)
  expect(plan).toContain(`taskdeck_dead_letter_${part}`)
  expect(plan).not.toContain('TEMP B-TREE')
})
