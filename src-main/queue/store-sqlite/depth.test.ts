import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { mostCounted } from './depth.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir } from './test-file.fixture.ts'

it('says of a long queue that there are at least so many, and counts the short ones beside it', async () => {
  const file = await emptyQueue()
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const direct = new Database(file, nativeBinding ? { nativeBinding } : {})
  onTestFinished(() => void direct.close())
  direct.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${mostCounted.group + 500})
    INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload)
    SELECT CASE WHEN i <= 7 THEN 'short' ELSE 'long' END, CASE WHEN i = 8 THEN 'RETRY_WAIT' ELSE 'QUEUED' END, 5, i, i, i, '', '', x'00', '{}' FROM n`)
  const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
  onTestFinished(() => store.close())
  const { depth, limits } = await store.read()
  expect(depth).toEqual([
    { type: 'long', state: 'QUEUED', count: mostCounted.group, accuracy: 'atLeast' },
    { type: 'long', state: 'RETRY_WAIT', count: 1 },
    { type: 'short', state: 'QUEUED', count: 7 }
  ])
  expect(limits).toEqual([])
})
