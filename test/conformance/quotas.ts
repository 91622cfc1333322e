import { describe, expect, it } from 'vitest'
import { deadLetterFilter, taskFilter, type NewTaskInput } from '../../src-main/kernel/index.ts'
import type { QuotaScope } from '../../src-main/queue/quota.ts'
import type { SubmitResult, TaskStore } from '../../src-main/queue/task-store.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'

const refusal = (scope: QuotaScope, name: string, limit: number): object => ({
  code: 'QUOTA_EXCEEDED',
  kind: 'user',
  details: { scope, name, limit }
})

export function describeQuotas(queue: QueueUnderTest): void {
  const limit = (scope: QuotaScope, name: string, maxUnfinished: number | null): Promise<void> =>
    queue.store.setPolicy({ scope, name, maxUnfinished })
  const submitMany = (count: number, input: Partial<NewTaskInput> = {}, store = queue.store): Promise<SubmitResult[]> =>
    store.submit(Array.from({ length: count }, () => task(input)))

  describe('quotas', () => {
    it.each([
      { scope: 'QUEUE', name: '', input: {} },
      { scope: 'TYPE', name: 't', input: {} },
      { scope: 'TYPE', name: '*', input: {} },
      { scope: 'OWNER', name: 'ann', input: { owner: 'ann' } },
      { scope: 'OWNER', name: '*', input: { owner: 'ann' } }
    ] as const)('of $scope "$name" refuse a batch that is too much as a whole', async ({ scope, name, input }) => {
      await limit(scope, name, 5)
      await submitMany(3, input)
      const named = name === '*' ? (scope === 'TYPE' ? 't' : 'ann') : name
      await expect(submitMany(3, input)).rejects.toMatchObject(refusal(scope, named, 5))
      expect(await queue.count('task')).toBe(3)
      await submitMany(2, input)
      expect(await queue.count('task')).toBe(5)
    })

    it('are each type’s and each owner’s own', async () => {
      await limit('TYPE', '*', 2)
      await limit('TYPE', 'big', 4)
      await limit('OWNER', 'ann', 3)
      await submitMany(2, { owner: 'bob' })
      await submitMany(2, { type: 'u' })
      await submitMany(3, { type: 'big', owner: 'ann' })
      await expect(submitMany(1, { type: 'big', owner: 'ann' })).rejects.toMatchObject(refusal('OWNER', 'ann', 3))
      await submitMany(1, { type: 'big' })
      await expect(submitMany(1, { type: 'big' })).rejects.toMatchObject(refusal('TYPE', 'big', 4))
    })

    it('do not bound tasks without an owner by what holds for each owner', async () => {
      await limit('OWNER', '*', 1)
      await submitMany(3)
      expect(await queue.count('task')).toBe(3)
    })

    it('count what has not ended: running, paused and held tasks too, and nothing that ended', async () => {
      await limit('TYPE', 't', 4)
      const fence = await queue.running()
      const paused = await queue.submit()
      await queue.store.act(paused, 'pause', 'ada')
      await queue.submit({ held: true })
      const waiting = await queue.submit()
      await expect(submitMany(1)).rejects.toMatchObject(refusal('TYPE', 't', 4))
      await queue.settle({ fence, outcome: 'SUCCESS', result: null })
      await queue.store.act(waiting, 'cancel', 'ada')
      await submitMany(2)
      await expect(submitMany(1)).rejects.toMatchObject(refusal('TYPE', 't', 4))
    })

    it('follow a change at once, up and down', async () => {
      await limit('QUEUE', '', 10)
      await submitMany(3)
      await limit('QUEUE', '', 2)
      await expect(submitMany(1)).rejects.toMatchObject(refusal('QUEUE', '', 2))
      await limit('QUEUE', '', null)
      await submitMany(5)
      await limit('QUEUE', '', 9)
      await submitMany(1)
      await expect(submitMany(1)).rejects.toMatchObject(refusal('QUEUE', '', 9))
      await limit('QUEUE', '', 0)
      await expect(submitMany(1)).rejects.toMatchObject(refusal('QUEUE', '', 0))
    })

    it('never refuse a key that is known, and count one that comes twice once', async () => {
      await limit('TYPE', 't', 2)
      const known = await queue.submit({ idempotencyKey: 'k' })
      await queue.store.submit([task({ idempotencyKey: 'k2' }), task({ idempotencyKey: 'k2' })])
      const results = await queue.store.submit([
        task({ idempotencyKey: 'k' }),
        task({ idempotencyKey: 'k', payload: '1' })
      ])
      expect(results).toEqual([
        { status: 'exists', taskId: known },
        { status: 'conflict', taskId: known }
      ])
      await expect(queue.store.submit([task({ idempotencyKey: 'k3' })])).rejects.toMatchObject(refusal('TYPE', 't', 2))
      expect(await queue.count('task')).toBe(2)
    })

    it('never refuse an operator’s retry or replay, and count it', async () => {
      await limit('TYPE', 't', 2)
      for (const replays of [false, true]) {
        const fence = await queue.running()
        await queue.settle({ fence, outcome: 'FAILED', error: failure })
        await submitMany(2 - (await queue.count('task', 'finished_at IS NULL')))
        const [letter] = (await queue.store.deadLetters(openLetters, 1, null)).rows
        if (replays) await queue.store.replay(openLetters, { ...tenByAda, upToId: letter!.id })
        else await queue.store.act(fence.taskId, 'retry', 'ada')
        expect(await queue.count('task', 'finished_at IS NULL')).toBe(3)
        await expect(submitMany(1)).rejects.toMatchObject(refusal('TYPE', 't', 2))
        for (const { id } of (await queue.store.list(queued, 10, null)).rows) await queue.store.act(id, 'cancel', 'ada')
      }
    })

    it.each(['retry', 'replay'] as const)('count a %s after the room was counted', async (again) => {
      await limit('TYPE', 't', 5)
      const fence = await queue.running()
      await queue.settle({ fence, outcome: 'FAILED', error: failure })
      const filled = await submitMany(5)
      for (const { taskId } of filled.slice(0, 3)) await queue.store.act(taskId, 'cancel', 'ada')
      // Counted with this one: room for two more.
      await submitMany(1)
      if (again === 'retry') await queue.store.act(fence.taskId, 'retry', 'ada')
      else await queue.store.replay(openLetters, { ...tenByAda, upToId: (await queue.store.newestDeadLetter())! })
      await expect(submitMany(2)).rejects.toMatchObject(refusal('TYPE', 't', 5))
      await submitMany(1)
      expect(await queue.count('task', 'finished_at IS NULL')).toBe(5)
    })

    it('are filled exactly by 8 racing submitters, while tasks end', async () => {
      const most = 60
      await limit('TYPE', 't', most)
      await limit('OWNER', '*', most)
      const [worker, ...submitters] = await queue.openMany(9)
      const seen: number[] = []
      let accepted = 0
      let isOver = false
      const submitter = async (store: TaskStore, size: number): Promise<void> => {
        for (let round = 0; round < 15; round++)
          await submitMany(size, { owner: 'ann' }, store).then(
            (results) => void (accepted += results.length),
            (error: unknown) => expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED' })
          )
      }
      const work = async (): Promise<void> => {
        while (!isOver) {
          seen.push(await queue.count('task', 'finished_at IS NULL'))
          const claimed = await worker!.claim({ workerId: 'w1', types: ['t'], limit: 7, leaseMs: 60_000 })
          await worker!.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
          await new Promise(setImmediate)
        }
      }
      const working = work()
      await Promise.all(submitters.map((store, i) => submitter(store, 1 + i)))
      isOver = true
      await working
      expect(Math.max(...seen)).toBeLessThanOrEqual(most)
      expect(accepted).toBeGreaterThan(most)
      expect(await queue.count('task')).toBe(accepted)
      const left = most - (await queue.count('task', 'finished_at IS NULL'))
      await submitMany(left, { owner: 'ann' })
      await expect(submitMany(1, { owner: 'ann' })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
      expect(await queue.count('task', 'finished_at IS NULL')).toBe(most)
    })

    it('take each key once when 8 submitters race with the same keys for the last room', async () => {
      await limit('TYPE', 't', 20)
      const stores = await queue.openMany(8)
      const keyed = Array.from({ length: 20 }, (_, i) => task({ idempotencyKey: `k${i}` }))
      const results = (await Promise.all(stores.map((store) => store.submit(keyed)))).flat()
      expect(results.filter(({ status }) => status === 'created')).toHaveLength(20)
      expect(await queue.count('task')).toBe(20)
    })
  })
}

const openLetters = deadLetterFilter.parse({})
const tenByAda = { limit: 10, cursor: null, by: 'ada' }
const queued = taskFilter.parse({ states: ['QUEUED'] })
