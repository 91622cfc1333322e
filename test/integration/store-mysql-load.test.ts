import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { systemClock } from '../../src-main/kernel/index.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { countingTrouble, MysqlQueue, tasks, type LockTrouble } from './store-mysql-queue.ts'

const loadMs = 5_000

let queue: MysqlQueue
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
})
afterAll(() => queue.close())

it('submits, claims, settles, renews and recovers side by side without deadlocks or lock timeouts, and every attempt is accounted for (FAULTS 1)', async () => {
  const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
  const open = async (): Promise<TaskStore> =>
    openMysqlStore({ database: countingTrouble(await queue.connect(2), trouble), clock: systemClock })
  const end = performance.now() + loadMs
  const during = async (step: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < end) await step()
  }
  const types = ['a', 'b', 'c']
  let settled = 0

  const produce = async (): Promise<void> => {
    const store = await open()
    let n = 0
    await during(() => {
      n++
      const keyed = tasks(5, { type: 'a', idempotencyKey: `k${n % 50}` })
      return store.submit([...tasks(40, { type: types[n % 3] ?? 'a', priority: n % 10 }), ...keyed])
    })
  }
  const work = async (workerId: string): Promise<void> => {
    const store = await open()
    await during(async () => {
      // Some leases are over before they are settled, and recovery races for them.
      const claimed = await store.claim({ workerId, types, limit: 30, leaseMs: Math.random() < 0.2 ? 1 : 60_000 })
      const fences = claimed.map(({ fence }) => fence)
      await store.renew(fences.slice(0, 10))
      await store.appendLog(fences.slice(0, 3).map((fence) => ({ fence, level: 'info', message: 'm' })))
      const error = { code: 'E', message: 'm', class: 'retryable' } as const
      const results = await store.settle(
        fences.map((fence, index) =>
          index % 10 === 0
            ? { fence, outcome: 'RETRY', error, delayMs: 10 }
            : { fence, outcome: 'SUCCESS', result: '{}' }
        )
      )
      settled += results.filter(({ state }) => state !== undefined).length
    })
  }
  const sweep = async (): Promise<void> => {
    const store = await open()
    await during(async () => {
      await store.recover(50)
      await store.read()
    })
  }
  await Promise.all([produce(), produce(), work('w1'), work('w2'), work('w3'), work('w4'), sweep(), sweep()])

  expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  expect(settled).toBeGreaterThan(0)
  const database = await queue.connect()
  const { rows } = await database.execute(`
    SELECT COUNT(*) AS wrong FROM taskdeck_task AS task
    WHERE task.attempt <> (SELECT COUNT(*) FROM taskdeck_attempt AS ended WHERE ended.task_id = task.id)
      + (task.state IN ('RUNNING', 'CANCEL_REQUESTED'))`)
  expect(Number(rows[0]?.['wrong'])).toBe(0)
}, 60_000)
