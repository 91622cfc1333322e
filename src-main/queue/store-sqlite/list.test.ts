import { expect, it, onTestFinished } from 'vitest'
import { systemClock, taskFilter } from '../../kernel/index.ts'
import { listTasks } from './list.ts'
import { QueueFile } from './queue-file.ts'
import { submit } from './submit.ts'
import { emptyQueue, task } from './test-file.fixture.ts'

it('looks for rare tasks in bounded steps, and the cursor goes on where it stopped', { timeout: 30_000 }, async () => {
  const file = await QueueFile.open({ file: await emptyQueue(), clock: systemClock })
  onTestFinished(() => file.close())
  const [rare] = await submit(file, [task({ owner: 'rare' })])
  file.execute(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 210000)
    INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload,
      max_attempts, retry_policy)
    SELECT 't', 'SUCCESS', 5, 0, 0, 0, 'common', '', x'', '{}', 1, '{}' FROM n`)
  const filter = taskFilter.parse({ owner: 'rare' })

  const first = await listTasks(file, filter, { limit: 10, cursor: null })
  expect(first.rows).toEqual([])
  expect(first.nextCursor).toBe('10002') // 200,000 tasks were looked at
  const second = await listTasks(file, filter, { limit: 10, cursor: first.nextCursor })
  expect(second.rows.map(({ id }) => id)).toEqual([rare!.taskId])
  expect(second.nextCursor).toBeNull()
})
