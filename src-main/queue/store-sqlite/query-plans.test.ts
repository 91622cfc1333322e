import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { taskFilter, type TaskFilter } from '../../kernel/index.ts'
import { attemptsEnded, attemptsRunning } from './attempts-window.ts'
import { countLeased, dueOfOneOwner, dueOfOneRange, nextOwner } from './claim-choice.ts'
import { listStatements } from './list.ts'
import { firstGroup, groupSize, nextGroup } from './depth.ts'
import { endedProbe, finishedProbe, lateSchedules, newestAttempts, oldestProbe, submittedProbe } from './read.ts'
import { expiredLeases, passedDeadlines } from './recover.ts'
import { emptyQueue } from './test-file.fixture.ts'

const parameters = { at: 0, since: 0, type: 't', state: 'QUEUED', owner: 'o', priority: 5, limit: 10 }

async function planOf(sql: string, values: unknown = parameters): Promise<string> {
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const database = new Database(await emptyQueue(), nativeBinding ? { nativeBinding } : {})
  onTestFinished(() => void database.close())
  const rows = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(values)
  return rows.map((row) => row.detail).join('\n')
}

it('the claim reads one range of its index, in the order of the index', async () => {
  expect(await planOf(dueOfOneRange)).toBe(
    'SEARCH taskdeck_task USING INDEX taskdeck_task_claim (type=? AND priority=? AND run_at<?)'
  )
})

it('the claim of one owner, and the jump to the next one, read one range of their index', async () => {
  expect(await planOf(dueOfOneOwner)).toBe(
    'SEARCH taskdeck_task USING INDEX taskdeck_task_turn (type=? AND priority=? AND owner=? AND run_at<?)'
  )
  expect(await planOf(nextOwner)).toBe(
    'SEARCH taskdeck_task USING INDEX taskdeck_task_turn (type=? AND priority=? AND owner>?)'
  )
})

it('leases are counted in their index alone', async () => {
  expect(await planOf(countLeased)).toContain('USING COVERING INDEX taskdeck_task_lease')
})

it.each([
  { name: 'expired leases', sql: expiredLeases, index: 'taskdeck_task_lease' },
  { name: 'passed deadlines', sql: passedDeadlines, index: 'taskdeck_task_deadline' },
  { name: 'the oldest waiting task', sql: oldestProbe, index: 'taskdeck_task_claim' },
  { name: 'the newest attempts', sql: newestAttempts, index: 'taskdeck_attempt_ended' },
  { name: 'the first type and state of the depth', sql: firstGroup, index: 'taskdeck_task_live' },
  { name: 'late schedules', sql: lateSchedules, index: 'taskdeck_schedule_next' },
  { name: 'the attempts of a window', sql: attemptsEnded, index: 'taskdeck_attempt_ended' },
  { name: 'running attempts', sql: attemptsRunning, index: 'taskdeck_task_lease' }
])('$name are read from an index in its order', async ({ sql, index }) => {
  const plan = await planOf(sql)
  expect(plan).toContain(index)
  expect(plan).not.toContain('TEMP B-TREE')
})

it('the depth jumps from group to group, and counts each in its range', async () => {
  expect(await planOf(nextGroup)).toMatch(/^SEARCH taskdeck_task USING (COVERING )?INDEX taskdeck_task_live \(\(?type/)
  expect(await planOf(nextGroup)).not.toContain('TEMP B-TREE')
  expect(await planOf(groupSize)).toContain('taskdeck_task_live (type=? AND state=?)')
})

it.each([
  { name: 'submitted', sql: submittedProbe, range: 'COVERING INDEX taskdeck_task_created (created_at>?)' },
  { name: 'finished', sql: finishedProbe, range: 'COVERING INDEX taskdeck_task_finished (finished_at>?)' },
  { name: 'ended', sql: endedProbe, range: 'COVERING INDEX taskdeck_attempt_ended (ended_at>?)' }
])('what was $name lately is counted in one range of an index', async ({ sql, range }) => {
  expect(await planOf(sql)).toContain(range)
})

const filters: Partial<TaskFilter>[] = [
  {},
  { states: ['FAILED'] },
  { states: ['FAILED', 'CANCELLED', 'SUCCESS'], types: ['a', 'b'], owner: 'o' },
  { types: ['a'], search: 'x' }
]

it.each(filters)('a list of %o is read in its order, without a sort', async (filter) => {
  const { page } = listStatements(taskFilter.parse(filter), 100n, 10)
  const plan = await planOf(page.sql, page.values)
  expect(plan).not.toContain('TEMP B-TREE')
  expect(plan).not.toMatch(/SCAN taskdeck_task\b/)
})
