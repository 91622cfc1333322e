import { describe, expect, it } from 'vitest'
import {
  liveStates,
  scheduleInput,
  systemClock,
  type AttemptOutcome,
  type Clock,
  type QueueReading
} from '../../src-main/kernel/index.ts'
import type { WorkerReport } from '../../src-main/queue/task-store.ts'
import { everySettlement, task, type QueueUnderTest } from './queue-under-test.ts'

const report = (over: Partial<WorkerReport> = {}): WorkerReport => ({
  id: 'w1',
  incarnation: 'one',
  host: 'host-1',
  pid: 42,
  version: '0.1.0',
  status: 'running',
  slots: 8,
  running: 3,
  threads: 4,
  queued: 1,
  polledAgoMs: 100,
  claimedAgoMs: null,
  claimP50Ms: 1.5,
  claimP95Ms: null,
  claimP99Ms: null,
  database: 'ok',
  fault: null,
  hintPort: null,
  ...over
})

/** The same numbers on every run: a workload that fails once fails again. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

export function describeReading(queue: QueueUnderTest): void {
  const types = ['a', 'b', 'c']

  /** Tasks of three types in every state that operations lead to, chosen by chance. */
  async function runWorkload(random: () => number): Promise<void> {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    for (let round = 0; round < 4; round++) {
      const created = await queue.store.submit(
        Array.from({ length: 15 }, () =>
          task({ type: pick(types), held: random() < 0.2, priority: Math.floor(random() * 10), maxAttempts: 2 })
        )
      )
      for (const { taskId } of created) {
        if (random() < 0.2) await queue.store.act(taskId, pick(['cancel', 'pause', 'release'] as const), 'ada')
      }
      const claimed = await queue.store.claim({ workerId: 'w1', types, limit: 6, leaseMs: 60_000 })
      for (const { fence } of claimed) {
        const chance = random()
        if (chance < 0.15) await queue.store.act(fence.taskId, 'cancel', 'ada')
        else if (chance < 0.3) await queue.loseLease(fence.taskId)
        else if (chance < 0.9) await queue.settle(pick(everySettlement(fence).slice(0, 4)))
        else await queue.settle({ fence, outcome: 'HANDED_BACK' })
      }
    }
  }

  async function counted(sql: string): Promise<Record<string, number>> {
    const rows = await queue.sql(sql)
    return Object.fromEntries(rows.map((row) => [String(row['k']), Number(row['n'])]))
  }

  const byType = (reading: QueueReading, figure: 'submitted1m' | 'finished1m' | 'ended5m'): Record<string, number> =>
    Object.fromEntries(reading.flow.filter((flow) => flow[figure] > 0).map((flow) => [flow.type, flow[figure]]))

  const countAttempts = (outcome: AttemptOutcome): Promise<Record<string, number>> =>
    counted(`SELECT type AS k, COUNT(*) AS n FROM taskdeck_attempt WHERE outcome = '${outcome}' GROUP BY type`)

  describe('a reading', () => {
    it('of an empty queue has no figures', async () => {
      const reading = await queue.store.read()
      expect(reading).toMatchObject({ depth: [], oldest: [], flow: [], duration: null, pickup: null, workers: [] })
      expect(Math.abs(reading.at - Date.now())).toBeLessThan(60_000)
    })

    it.each([1, 2, 3, 4])('equals a full count of workload %i', async (seed) => {
      await runWorkload(seeded(seed))
      const reading = await queue.store.read()

      const live = liveStates.map((state) => `'${state}'`).join(', ')
      const depth = await queue.sql(
        `SELECT type, state, COUNT(*) AS n FROM taskdeck_task WHERE state IN (${live}) GROUP BY type, state`
      )
      const flat = (rows: { type: unknown; state: unknown; count: unknown }[]): string[] =>
        rows.map((row) => `${String(row.type)} ${String(row.state)} ${Number(row.count)}`).sort()
      expect(flat([...reading.depth])).toEqual(
        flat(depth.map((row) => ({ type: row['type'], state: row['state'], count: row['n'] })))
      )

      expect(byType(reading, 'submitted1m')).toEqual(
        await counted('SELECT type AS k, COUNT(*) AS n FROM taskdeck_task GROUP BY type')
      )
      expect(byType(reading, 'finished1m')).toEqual(
        await counted('SELECT type AS k, COUNT(*) AS n FROM taskdeck_task WHERE finished_at IS NOT NULL GROUP BY type')
      )
      expect(byType(reading, 'ended5m')).toEqual(
        await counted(
          "SELECT type AS k, COUNT(*) AS n FROM taskdeck_attempt WHERE outcome <> 'HANDED_BACK' GROUP BY type"
        )
      )
      const outcomes = { failed5m: 'FAILED', retried5m: 'RETRY', recovered5m: 'LEASE_EXPIRED' } as const
      for (const [figure, outcome] of Object.entries(outcomes)) {
        const expected = await countAttempts(outcome)
        for (const flow of reading.flow) expect(flow).toHaveProperty(figure, expected[flow.type] ?? 0)
      }

      const oldest = await counted(
        `SELECT type AS k, COUNT(*) AS n FROM taskdeck_task WHERE state IN ('QUEUED', 'RETRY_WAIT')
           AND run_at <= ${queue.shifted('created_at', 20_000)} GROUP BY type`
      )
      expect(reading.oldest.map((entry) => entry.type).sort()).toEqual(Object.keys(oldest).sort())
    })

    it('names the task of each type that waits longest since it became due, the longest first', async () => {
      const older = await queue.submit({ type: 'a', priority: 9 })
      await queue.submit({ type: 'a', priority: 0 })
      const oldest = await queue.submit({ type: 'b' })
      await queue.submit({ type: 'c', runAt: Date.now() + 3_600_000 })
      await queue.submit({ type: 'd', held: true })
      await queue.shift(older, 'run_at', -60_000)
      await queue.shift(oldest, 'run_at', -120_000)
      const reading = await queue.store.read()
      expect(reading.oldest.map(({ type, taskId }) => [type, taskId])).toEqual([
        ['b', oldest],
        ['a', older]
      ])
      for (const { taskId, ageMs } of reading.oldest) {
        expect(Math.abs(ageMs - (reading.at - (await queue.detail(taskId)).runAt))).toBeLessThanOrEqual(1_000)
      }
    })

    it('counts the schedules whose tick is more than a minute late, and those alone', async () => {
      expect((await queue.store.read()).schedulesLate).toBe(0)
      const schedule = { cron: '0 0 1 1 *', timeZone: 'UTC', task: { type: 't', payload: '{}' } }
      for (const name of ['late', 'soon', 'off', 'fine'])
        await queue.store.putSchedule(scheduleInput.parse({ ...schedule, name }))
      const setNext = (name: string, secondsAgo: number): Promise<unknown> =>
        queue.sql(
          `UPDATE taskdeck_schedule SET next_at = ${queue.shifted('updated_at', -secondsAgo * 1_000)} WHERE name = '${name}'`
        )
      await setNext('late', 90)
      await setNext('soon', 20)
      await setNext('off', 90)
      await queue.sql("UPDATE taskdeck_schedule SET enabled = 0 WHERE name = 'off'")
      expect((await queue.store.read()).schedulesLate).toBe(1)
    })

    it('leaves out what is older than its windows', async () => {
      const [task1, task5] = [await queue.running({ type: 'a' }), await queue.running({ type: 'a' })]
      for (const fence of [task1, task5]) await queue.settle({ fence, outcome: 'SUCCESS', result: null })
      const shift = async (table: string, column: string, ms: number, where: string): Promise<void> => {
        await queue.sql(`UPDATE ${table} SET ${column} = ${queue.shifted(column, ms)} WHERE ${where}`)
      }
      for (const column of ['created_at', 'finished_at']) {
        await shift('taskdeck_task', column, -90_000, `id = ${task1.taskId}`)
        await shift('taskdeck_task', column, -600_000, `id = ${task5.taskId}`)
      }
      await shift('taskdeck_attempt', 'ended_at', -90_000, `task_id = ${task1.taskId}`)
      await shift('taskdeck_attempt', 'ended_at', -600_000, `task_id = ${task5.taskId}`)
      const [flow, ...rest] = (await queue.store.read()).flow
      expect(rest).toEqual([])
      expect(flow).toMatchObject({ type: 'a', submitted1m: 0, finished1m: 0, ended5m: 1 })
    })

    it('measures how long attempts took and how long they waited to be picked up', async () => {
      for (const seconds of [1, 2, 3, 4]) {
        const fence = await queue.running({ type: 'a' })
        await queue.settle({ fence, outcome: 'SUCCESS', result: null })
        await queue.sql(
          `UPDATE taskdeck_attempt SET started_at = ${queue.shifted('ended_at', -seconds * 1_000)},
             due_at = ${queue.shifted('ended_at', -seconds * 3_000)} WHERE task_id = ${fence.taskId}`
        )
      }
      const back = await queue.running({ type: 'a' })
      await queue.settle({ fence: back, outcome: 'HANDED_BACK' })
      const reading = await queue.store.read()
      const { duration, pickup } = reading.flow.find((flow) => flow.type === 'a')!
      expect(duration!.p50).toBeGreaterThanOrEqual(2_000 - 1)
      expect(duration!.p50).toBeLessThanOrEqual(3_000 + 1)
      expect(duration!.p99).toBeGreaterThan(3_500)
      expect(duration!.p99).toBeLessThanOrEqual(4_000 + 1)
      expect(pickup!.p50).toBeGreaterThanOrEqual(4_000 - 1)
      expect(pickup!.p50).toBeLessThanOrEqual(6_000 + 1)
      expect(reading).toMatchObject({ duration, pickup })
    })
  })

  describe('workers', () => {
    it('are shown as they reported themselves, with the database times', async () => {
      await queue.store.reportWorker(report({ polledAgoMs: 2_000, claimedAgoMs: 5_000 }))
      const { workers, at } = await queue.store.read()
      const { incarnation, polledAgoMs, claimedAgoMs, hintPort, ...same } = report()
      expect([incarnation, polledAgoMs, claimedAgoMs, hintPort]).toHaveLength(4)
      expect(workers).toHaveLength(1)
      const [worker] = workers
      expect(worker).toMatchObject(same)
      expect(at - worker!.lastHeartbeatAt).toBeLessThan(60_000)
      expect(worker!.startedAt).toBe(worker!.lastHeartbeatAt)
      expect(worker!.lastHeartbeatAt - worker!.lastPollAt!).toBeCloseTo(2_000, 0)
      expect(worker!.lastHeartbeatAt - worker!.lastClaimAt!).toBeCloseTo(5_000, 0)
    })

    it('keep one row each and the time of their start', async () => {
      await queue.store.reportWorker(report())
      await queue.sql(
        `UPDATE taskdeck_worker SET started_at = ${queue.shifted('started_at', -60_000)},
           last_heartbeat_at = ${queue.shifted('last_heartbeat_at', -5_000)}`
      )
      await queue.store.reportWorker(report({ running: 7, polledAgoMs: null, fault: 'pool saturated' }))
      await queue.store.reportWorker(report({ id: 'w2' }))
      const { workers } = await queue.store.read()
      expect(workers.map((worker) => worker.id).sort()).toEqual(['w1', 'w2'])
      const first = workers.find((worker) => worker.id === 'w1')!
      expect(first).toMatchObject({ running: 7, fault: 'pool saturated' })
      expect(first.lastHeartbeatAt - first.startedAt).toBeGreaterThanOrEqual(60_000 - 1)
    })

    it('are forgotten by recovery an hour after they stopped and a day after they fell silent, some at a time', async () => {
      const minute = 60_000
      const age = async (id: string, minutes: number): Promise<void> => {
        const value = queue.shifted('last_heartbeat_at', -minutes * minute)
        await queue.sql(`UPDATE taskdeck_worker SET last_heartbeat_at = ${value} WHERE id = '${id}'`)
      }
      const known = async (): Promise<string[]> =>
        (await queue.sql('SELECT id FROM taskdeck_worker ORDER BY id')).map((row) => String(row['id']))
      for (const [id, status, minutes] of [
        ['alive', 'running', 0],
        ['silent-23h', 'running', 23 * 60],
        ['silent-25h', 'running', 25 * 60],
        ['stopped-50m', 'stopped', 50],
        ['stopped-70m', 'stopped', 70]
      ] as const) {
        await queue.store.reportWorker(report({ id, status }))
        await age(id, minutes)
      }
      expect(await queue.store.recover(10)).toEqual([])
      expect(await known()).toEqual(['alive', 'silent-23h', 'stopped-50m'])
      for (let n = 0; n < 101; n++) await queue.store.reportWorker(report({ id: `gone-${n}` }))
      await queue.sql(
        `UPDATE taskdeck_worker SET last_heartbeat_at = ${queue.shifted('last_heartbeat_at', -25 * 60 * minute)} WHERE id LIKE 'gone-%'`
      )
      await queue.store.recover(10)
      expect(await known()).toHaveLength(4)
      await queue.store.recover(10)
      expect(await known()).toEqual(['alive', 'silent-23h', 'stopped-50m'])
      await queue.store.reportWorker(report({ id: 'silent-25h' }))
      expect(await known()).toContain('silent-25h')
    })

    it('under one id in two live processes are a fault, whoever reported last', async () => {
      const other = await queue.open()
      const fault = async (): Promise<string | null> => (await queue.store.read()).workers[0]!.fault
      await queue.store.reportWorker(report({ incarnation: 'one' }))
      expect(await fault()).toBeNull()
      await other.reportWorker(report({ incarnation: 'two' }))
      expect(await fault()).not.toBeNull()
      await queue.store.reportWorker(report({ incarnation: 'one' }))
      expect(await fault()).not.toBeNull()
    })

    it.each([
      { name: 'stopped', make: () => queue.store.reportWorker(report({ incarnation: 'one', status: 'stopped' })) },
      {
        name: 'has not been heard of for long',
        make: async () => {
          await queue.store.reportWorker(report({ incarnation: 'one' }))
          const value = queue.shifted('last_heartbeat_at', -600_000)
          await queue.sql(`UPDATE taskdeck_worker SET last_heartbeat_at = ${value}`)
        }
      }
    ])('may take over an id whose process $name', async ({ make }) => {
      await make()
      await queue.store.reportWorker(report({ incarnation: 'two' }))
      const [worker] = (await queue.store.read()).workers
      expect(worker).toMatchObject({ fault: null, status: 'running' })
      expect(worker!.startedAt).toBe(worker!.lastHeartbeatAt)
    })

    it('may report a fault of any length', async () => {
      await queue.store.reportWorker(report({ fault: '🎩'.repeat(5_000), database: 'x'.repeat(500) }))
      expect((await queue.store.read()).workers[0]!.fault).toMatch(/^🎩/u)
    })
  })

  describe("the process's own clock", () => {
    it.each([-36_000_000, 36_000_000])('decides nothing: %i ms off changes no time', async (offMs) => {
      const wrong: Clock = { ...systemClock, now: () => Date.now() + offMs }
      const store = await queue.open(wrong)
      const [submitted] = await store.submit([task({ retryPolicy: { kind: 'list', delaysMs: [1_000] } })])
      const [claimed] = await queue.claim(1, { store, leaseMs: 30_000 })
      await store.renew([claimed!.fence])
      await store.appendLog([{ fence: claimed!.fence, level: 'info', message: 'm' }])
      expect(await store.recover(10)).toEqual([])
      expect((await queue.store.renew([claimed!.fence])).renewed).toHaveLength(1)
      await store.settle([{ ...everySettlement(claimed!.fence)[2]! }])
      await store.reportWorker(report())
      const { at, workers } = await store.read()
      const detail = await queue.detail(submitted!.taskId)
      const [line] = await queue.store.log(detail.id, null)
      const times = [
        at,
        detail.createdAt,
        detail.startedAt!,
        detail.stateSince,
        detail.runAt,
        line!.at,
        workers[0]!.startedAt
      ]
      const { at: now } = await queue.store.read()
      for (const time of times) expect(Math.abs(time - now)).toBeLessThan(120_000)
    })
  })
}
