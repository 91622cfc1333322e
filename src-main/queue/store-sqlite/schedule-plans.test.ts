import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { findLate, findNext, findOnTime, findUncounted } from './schedules.ts'
import { emptyQueue } from './test-file.fixture.ts'
import { findHintPorts } from './workers.ts'

it.each([
  [
    'schedules on time',
    findOnTime,
    'SEARCH taskdeck_schedule USING INDEX taskdeck_schedule_next (next_at>? AND next_at<?)'
  ],
  ['late schedules', findLate, 'SEARCH taskdeck_schedule USING INDEX taskdeck_schedule_next (next_at<?)'],
  [
    'schedules without a tick',
    findUncounted,
    'SEARCH taskdeck_schedule USING INDEX taskdeck_schedule_next (next_at=?)'
  ],
  ['the next tick', findNext, 'SEARCH taskdeck_schedule USING COVERING INDEX taskdeck_schedule_next (next_at>?)'],
  ['who listens for hints', findHintPorts, 'SEARCH taskdeck_worker USING INDEX taskdeck_worker_heartbeat']
])('%s are found in an index, without a sort', async (_name, sql, step) => {
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const database = new Database(await emptyQueue(), nativeBinding ? { nativeBinding } : {})
  onTestFinished(() => void database.close())
  const explain = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
  const plan = explain.all({ at: 0, host: 'h' }).map(({ detail }) => detail)
  expect(plan).toHaveLength(1)
  expect(plan[0]).toContain(step)
})
