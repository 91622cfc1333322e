import { describe, expect, it } from 'vitest'
import type { ClaimedTask } from '../../src-main/queue/task-store.ts'
import { task, type QueueUnderTest } from './queue-under-test.ts'

const ids = (claimed: readonly ClaimedTask[]): string[] => claimed.map(({ fence }) => fence.taskId)
const request = { workerId: 'w1', types: ['t'], limit: 10, leaseMs: 60_000 }

export function describeClaiming(queue: QueueUnderTest): void {
  describe('claiming', () => {
    it('hands over what a handler needs and takes the lease', async () => {
      const payload = '{"b":1, "a":12345678901234567890.10, "e":"🎩"}'
      const taskId = await queue.submit({
        payload,
        title: 'T',
        owner: 'o',
        businessKey: 'b',
        timeoutMs: 1_000,
        maxAttempts: 3,
        retryPolicy: { kind: 'list', delaysMs: [5] }
      })
      const [claimed] = await queue.claim(1, { leaseMs: 30_000 })
      expect(claimed).toMatchObject({
        fence: { taskId, workerId: 'w1', attempt: 1 },
        type: 't',
        payload,
        title: 'T',
        owner: 'o',
        businessKey: 'b',
        attemptsUsed: 1,
        maxAttempts: 3,
        timeoutMs: 1_000,
        retryPolicy: { kind: 'list', delaysMs: [5] },
        checkpoint: null
      })
      expect(claimed!.idempotencyKey).not.toBe('')
      const detail = await queue.detail(taskId)
      expect(detail).toMatchObject({ state: 'RUNNING', workerId: 'w1', attempt: 1, attemptsUsed: 1 })
      expect(detail.leaseUntil! - detail.startedAt!).toBeCloseTo(30_000, 0)
      expect(detail.stateSince).toBe(detail.startedAt)
      expect(detail.attempts).toEqual([
        {
          attempt: 1,
          workerId: 'w1',
          dueAt: detail.createdAt,
          startedAt: detail.startedAt,
          endedAt: null,
          outcome: null,
          error: null,
          progress: null
        }
      ])
    })

    it('gives every attempt of a task the same idempotency key, and other tasks other keys', async () => {
      const fence = await queue.running()
      await queue.settle({ fence, outcome: 'HANDED_BACK' })
      await queue.submit()
      const [one, two] = await queue.claim(2)
      const [first] = await queue.sql(`SELECT attempt FROM taskdeck_task WHERE id = ${fence.taskId}`)
      expect(Number(first!['attempt'])).toBe(2)
      expect(one!.idempotencyKey).not.toBe(two!.idempotencyKey)
      await queue.settle({ fence: one!.fence, outcome: 'HANDED_BACK' })
      await queue.settle({ fence: two!.fence, outcome: 'HANDED_BACK' })
      const again = await queue.claim(2)
      expect(new Map(again.map((c) => [c.fence.taskId, c.idempotencyKey]))).toEqual(
        new Map([one!, two!].map((c) => [c.fence.taskId, c.idempotencyKey]))
      )
    })

    it('takes the most urgent first, then the longest due, then the lowest id', async () => {
      const now = Date.now()
      const inputs = [
        { priority: 9, runAt: now - 90_000 },
        { priority: 5, runAt: now - 1_000 },
        { priority: 5, runAt: now - 2_000, type: 'u' },
        { priority: 5, runAt: now - 2_000 },
        { priority: 0, runAt: now - 500, type: 'u' },
        { priority: 0, runAt: now - 600 }
      ]
      const created = (await queue.store.submit(inputs.map(task))).map((r) => r.taskId)
      const expected = [5, 4, 2, 3, 1, 0].map((i) => created[i]!)
      const claimed = await queue.claim(4, { types: ['t', 'u'] })
      expect(ids(claimed)).toEqual(expected.slice(0, 4))
      expect(ids(await queue.claim(2, { types: ['t', 'u'] }))).toEqual(expected.slice(4))
    })

    it('puts a retry that is due among the waiting tasks by its due time', async () => {
      const retried = await queue.running()
      await queue.settle({
        fence: retried,
        outcome: 'RETRY',
        delayMs: 0,
        error: { code: 'E', message: '', class: 'retryable' }
      })
      const older = await queue.submit({ runAt: Date.now() - 7_200_000 })
      const newer = await queue.submit({ runAt: Date.now() - 60_000 })
      await queue.shift(retried.taskId, 'run_at', -3_600_000)
      expect(ids(await queue.claim(3))).toEqual([older, retried.taskId, newer])
    })

    it('leaves tasks alone that are not due yet', async () => {
      const future = await queue.submit({ runAt: Date.now() + 3_600_000, priority: 0 })
      const due = await queue.submit({ priority: 9 })
      expect(ids(await queue.claim())).toEqual([due])
      expect(await queue.store.claim(request)).toEqual([])
      await queue.shift(future, 'run_at', -3_600_000 - 60_000)
      expect(ids(await queue.claim())).toEqual([future])
    })

    it('leaves a task whose deadline passed to recovery', async () => {
      const late = await queue.submit({ priority: 0 })
      await queue.passDeadline(late)
      const inTime = await queue.submit({ deadlineAt: Date.now() + 3_600_000 })
      expect(ids(await queue.claim())).toEqual([inTime])
      expect(await queue.store.claim(request)).toEqual([])
      expect(await queue.state(late)).toBe('QUEUED')
    })

    it('takes what is due beside a task of another type whose deadline passed', async () => {
      await queue.passDeadline(await queue.submit({ type: 'a' }))
      await queue.passDeadline(await queue.submit({ type: 'a' }))
      const due = [await queue.submit({ type: 'b' }), await queue.submit({ type: 'b' })]
      const types = ['a', 'b']
      expect(ids(await queue.claim(1, { types }))).toEqual(due.slice(0, 1))
      expect(ids(await queue.claim(1, { types }))).toEqual(due.slice(1))
    })

    it('takes only the named types', async () => {
      await queue.submit({ type: 'u' })
      await queue.submit({ type: 'T' })
      const wanted = await queue.submit()
      expect(ids(await queue.store.claim(request))).toEqual([wanted])
      expect(await queue.store.claim({ ...request, types: [] })).toEqual([])
    })

    it('serves sixty types at once', async () => {
      const types = Array.from({ length: 60 }, (_, i) => `type-${i}`)
      const created = (await queue.store.submit(types.map((type) => task({ type })))).map((r) => r.taskId)
      expect(ids(await queue.claim(60, { types })).sort()).toEqual([...created].sort())
    })

    it.each(['', 'with space', 'wörker', 'w'.repeat(101)])('refuses the worker id "%s"', async (workerId) => {
      await queue.submit()
      const error = await queue.store.claim({ ...request, workerId }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await queue.count('task', "state = 'QUEUED'")).toBe(1)
    })

    it('respects the limit', async () => {
      await queue.store.submit(Array.from({ length: 8 }, () => task()))
      expect(await queue.store.claim({ ...request, limit: 3 })).toHaveLength(3)
      expect(await queue.store.claim({ ...request, limit: 0 })).toEqual([])
      expect(await queue.count('task', "state = 'RUNNING'")).toBe(3)
    })

    it('gives 2,000 tasks to 8 racing claimers, each task to one of them once', async () => {
      const total = 2_000
      await queue.store.submit(Array.from({ length: total }, (_, i) => task({ priority: i % 3 })))
      const stores = await queue.openMany(8)
      let left = total
      const drain = async (store: (typeof stores)[number], i: number): Promise<string[]> => {
        const mine: string[] = []
        for (const end = Date.now() + 50_000; left > 0 && Date.now() < end;) {
          const claimed = await store.claim({ ...request, workerId: `w${i}`, limit: 1 + (i % 4) * 5 })
          left -= claimed.length
          mine.push(...ids(claimed))
          await new Promise(setImmediate)
        }
        return mine
      }
      const claimed = await Promise.all(stores.map(drain))
      expect(claimed.flat()).toHaveLength(total)
      expect(new Set(claimed.flat()).size).toBe(total)
      expect(await queue.count('task', "state = 'RUNNING' AND attempt = 1 AND attempts_used = 1")).toBe(total)
      for (const [i, mine] of claimed.entries()) {
        expect(await queue.count('task', `worker_id = 'w${i}'`)).toBe(mine.length)
      }
      expect(await stores[0]!.claim(request)).toEqual([])
    }, 60_000)

    it('finds its tasks beside those of types that another program wrote with spaces or control characters', async () => {
      const written = await Promise.all(
        [' ', '   ', '\t', '\u0001'].map(async (end) => [await queue.submit(), end] as const)
      )
      for (const [taskId, end] of written) {
        await queue.sql(`UPDATE taskdeck_task SET type = 't${end}' WHERE id = ${taskId}`)
        await queue.shift(taskId, 'run_at', -60_000)
      }
      const taskId = await queue.submit()
      const claimed = await queue.claim(1, { types: ['a', 't', 'z'] })
      // Whether those of the others are taken is the collation's: no more of them need to come.
      const more = await queue.store.claim({ ...request, types: ['a', 't', 'z'] })
      expect(ids([...claimed, ...more])).toContain(taskId)
      expect(new Set([...claimed, ...more].map(({ type }) => type))).toEqual(new Set(['t']))
    })

    it('lets claimers, submitters and settlers work side by side without losing a task', async () => {
      const [submitter, ...workers] = await queue.openMany(5)
      const total = 400
      let settled = 0
      const submit = async (): Promise<void> => {
        for (let i = 0; i < total; i += 20) await submitter!.submit(Array.from({ length: 20 }, () => task()))
      }
      const work = async (store: (typeof workers)[number], i: number): Promise<void> => {
        for (const end = Date.now() + 50_000; settled < total && Date.now() < end;) {
          const claimed = await store.claim({ ...request, workerId: `w${i}` })
          const results = await store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
          settled += results.filter((r) => r.state === 'SUCCESS').length
          await new Promise(setImmediate)
        }
      }
      await Promise.all([submit(), ...workers.map(work)])
      expect(await queue.count('task', "state = 'SUCCESS' AND attempt = 1")).toBe(total)
      expect(await queue.count('attempt', "outcome = 'SUCCESS'")).toBe(total)
    }, 60_000)
  })
}
