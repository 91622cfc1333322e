import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import type { PolicyInput, SqlDatabase } from '../../src-main/kernel/index.ts'
import { MysqlQueue } from './store-mysql-queue.ts'

/*
 * What a claim reads when others cannot be taken from, counted by the server: the number of tasks that stand ahead must not matter.
 * How long it takes is in docs/decisions/0007-policies-and-limits.md.
 */

const ahead = 5_000
const limit = 20
/** Groups, owners, gates, policies and counts; and each task a few times. */
const mostRows = 20 * limit

let queue: MysqlQueue
/** One connection: the server counts by session. */
let database: SqlDatabase

beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect(1)
})
afterAll(() => queue.close())
beforeEach(async () => {
  for (const table of ['task', 'policy', 'gate']) await database.execute(`DELETE FROM taskdeck_${table}`)
})

async function fill(count: number, task: { type: string; owner: string; secondsAgo: number }): Promise<void> {
  await database.execute(
    `INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload)
     WITH RECURSIVE one AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM one WHERE n < 100),
       two AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM two WHERE n < 100)
     SELECT ?, 'QUEUED', 5, NOW(6) - INTERVAL ? SECOND, NOW(6), NOW(6), ?, '', REPEAT('x', 32), '{}' FROM one CROSS JOIN two LIMIT ?`,
    [task.type, task.secondsAgo, task.owner, count]
  )
}

async function rowsRead(): Promise<number> {
  const { rows } = await database.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
  return rows.reduce((sum, row) => sum + Number(row['Value']), 0)
}

const full = { type: 'full', owner: 'full', secondsAgo: 3_600 }
const many = { type: 't', owner: 'many', secondsAgo: 3_600 }

it.each<[string, PolicyInput, typeof full, string[]]>([
  ['a type is at its limit', { scope: 'TYPE', name: 'full', maxRunning: 1 }, full, ['free']],
  ['a type is paused', { scope: 'TYPE', name: 'full', enabled: false }, full, ['free']],
  ['an owner is at its limit', { scope: 'OWNER', name: 'many', maxRunning: 1 }, many, ['free']],
  ['an owner is paused', { scope: 'OWNER', name: 'many', enabled: false }, many, ['free']],
  ['owners take turns', { scope: 'TYPE', name: 't', fair: true }, many, ['free', 'many']]
])('when %s, what stands ahead is not read', async (_, policy, blocked, expected) => {
  const store = await queue.store(database)
  await store.setPolicy(policy)
  await fill(ahead, blocked)
  await fill(200, { type: 't', owner: 'free', secondsAgo: 60 })
  const request = { workerId: 'w', types: ['full', 't'], leaseMs: 60_000 }
  // The one that the limit allows.
  if (policy.maxRunning === 1) await store.claim({ ...request, types: [blocked.type], limit: 1 })
  const before = await rowsRead()
  const claimed = await store.claim({ ...request, limit })
  const rows = (await rowsRead()) - before
  expect(claimed).toHaveLength(limit)
  expect([...new Set(claimed.map(({ owner }) => owner))].sort()).toEqual(expected)
  expect(rows).toBeLessThan(mostRows)
})
