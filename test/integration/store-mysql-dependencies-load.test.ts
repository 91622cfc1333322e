import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { AppError, deadLetterFilter, systemClock, type Fence } from '../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { Settlement, TaskStore } from '../../src-main/queue/task-store.ts'
import { countingTrouble, MysqlQueue, tasks, type LockTrouble } from './store-mysql-queue.ts'

/** Of one round. */
const loadMs = 5_000
const mostRounds = 4
/** Low enough for the quota to refuse some, whatever the machine. */
const most = 40

/** What the load is there for. */
const wanted = [
  ['attempt', 'outcome', 'RETRY'],
  ['attempt', 'outcome', 'LEASE_EXPIRED'],
  ['dead_letter', 'reason', 'DEADLINE'],
  ['dead_letter', 'reason', 'DEPENDENCY'],
  ...['RUN', 'RATE', 'QUOTA', 'RETRY'].map((kind) => ['gate', 'kind', kind] as const)
] as const

/** Most batches are mixed. */
function endOf(fence: Fence): Settlement {
  const error = { code: 'E', message: 'm', class: 'retryable' } as const
  const chance = Math.random()
  if (chance < 0.3) return { fence, outcome: 'RETRY', error, delayMs: 10 }
  if (chance < 0.45) return { fence, outcome: 'FAILED', error }
  return { fence, outcome: 'SUCCESS', result: null }
}

let queue: MysqlQueue
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
})
afterAll(() => queue.close())

it('submits with quotas, limits, deadlines and dependencies, ends, retries within budgets, cancels and replays side by side: no lock timeout, no deadlock, nothing stuck', async () => {
  const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
  const open = async (): Promise<TaskStore> =>
    openMysqlStore({ database: countingTrouble(await queue.connect(2), trouble), clock: systemClock })
  const first = await open()
  const retriesPerMinute = 6_000
  await first.setPolicy({ scope: 'QUEUE', name: '', maxUnfinished: most, maxRunning: 20 })
  await first.setPolicy({ scope: 'OWNER', name: '*', maxUnfinished: most / 2, maxRunning: 8 })
  await first.setPolicy({ scope: 'TYPE', name: 'a', maxRunning: 15, retriesPerMinute })
  await first.setPolicy({ scope: 'TYPE', name: 'b', rate: { count: 100_000, periodMs: 60_000 }, retriesPerMinute })
  let end = 0
  const during = async (step: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < end) await step()
  }
  const known: string[] = []
  const some = (count: number): string[] =>
    Array.from({ length: count }, () => known[Math.floor(Math.random() * known.length)]).filter(
      (id) => id !== undefined
    )
  let refused = 0

  const produce = async (owner: string): Promise<void> => {
    const store = await open()
    await during(async () => {
      const afterFailure = Math.random() < 0.3 ? 'RELEASE' : 'FAIL'
      const batch = [
        ...tasks(3, { type: 'a', owner, priority: Math.floor(Math.random() * 3) }),
        ...tasks(2, { type: 'b', owner, after: some(3), afterFailure }),
        ...tasks(2, { type: 'b', owner, after: some(3), afterFailure, deadlineAt: Date.now() + Math.random() * 200 }),
        ...tasks(2, { type: 'a', owner, idempotencyKey: `k${known.length % 40}`, after: some(2) })
      ]
      const results = await store.submit(batch).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'QUOTA_EXCEEDED') throw error
        refused++
        return []
      })
      known.push(...results.map(({ taskId }) => taskId))
      if (known.length > 200) known.splice(0, 100)
    })
  }
  const work = async (workerId: string): Promise<void> => {
    const store = await open()
    await during(async () => {
      const isLost = Math.random() < 0.2
      const claimed = await store.claim({ workerId, types: ['a', 'b'], limit: 5, leaseMs: isLost ? 1 : 60_000 })
      // Of lost ones some are left to recovery, for others it is a race.
      const ended = isLost && Math.random() < 0.5 ? [] : claimed
      await store.settle(ended.map(({ fence }) => endOf(fence)))
    })
  }
  const operate = async (): Promise<void> => {
    const store = await open()
    const allOpen = deadLetterFilter.parse({})
    await during(async () => {
      for (const id of some(3)) await store.act(id, Math.random() < 0.5 ? 'cancel' : 'retry', 'ada')
      const upToId = await store.newestDeadLetter()
      if (upToId !== null && Math.random() < 0.3)
        await store.replay(allOpen, { upToId, limit: 5, cursor: null, by: 'ada' })
      await store.recover(50)
    })
  }
  const database = await queue.connect()
  const counted = async (sql: string): Promise<number> => Number((await database.execute(sql)).rows[0]?.['n'])
  /** What has not happened yet. */
  const missing = async (): Promise<string[]> => {
    const found = refused > 0 ? [] : ['a refusal by the quota']
    for (const [table, column, value] of wanted)
      if ((await counted(`SELECT COUNT(*) AS n FROM taskdeck_${table} WHERE ${column} = '${value}'`)) === 0)
        found.push(value)
    return found
  }
  // A busy machine does little in one round.
  for (let round = 0; round < mostRounds && (await missing()).length > 0; round++) {
    end = performance.now() + loadMs
    const producers = ['ann', 'ann', 'bob', ''].map(produce)
    await Promise.all([...producers, work('w1'), work('w2'), operate(), operate()])
  }

  expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  expect(await missing()).toEqual([])
  while ((await first.recover(500)).length > 0);
  // Every dependency on a task that has ended is settled, and the counts of those that wait are right.
  expect(
    await counted(`
      SELECT COUNT(*) AS n FROM taskdeck_dependency AS d JOIN taskdeck_task AS parent ON parent.id = d.waits_for_id
      JOIN taskdeck_task AS t ON t.id = d.task_id
      WHERE d.settled = 0 AND parent.finished_at IS NOT NULL AND t.state = 'CREATED'`)
  ).toBe(0)
  expect(
    await counted(`
      SELECT COUNT(*) AS n FROM taskdeck_task AS t WHERE t.state = 'CREATED' AND t.held = 0
        AND t.waits_for <> (SELECT COUNT(*) FROM taskdeck_dependency AS d WHERE d.task_id = t.id AND d.settled = 0)`)
  ).toBe(0)
  expect(
    await counted("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'CREATED' AND waits_for = 0 AND held = 0")
  ).toBe(0)
  // One open letter a failed task.
  expect(
    await counted(`
      SELECT COUNT(*) AS n FROM taskdeck_task AS t
      WHERE (t.state = 'FAILED') <> (SELECT COUNT(*) FROM taskdeck_dead_letter AS l WHERE l.task_id = t.id AND l.resolution = 'OPEN')`)
  ).toBe(0)
}, 90_000)
