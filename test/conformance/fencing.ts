import { describe, expect, it } from 'vitest'
import type { Fence } from '../../src-main/kernel/index.ts'
import { everySettlement, failure, type QueueUnderTest } from './queue-under-test.ts'

interface StaleFence {
  readonly name: string
  readonly make: (queue: QueueUnderTest) => Promise<Fence>
}

const staleFences: readonly StaleFence[] = [
  {
    name: 'of an older attempt by the same worker',
    make: async (queue) => {
      const fence = await queue.running()
      await queue.loseLease(fence.taskId)
      await queue.shift(fence.taskId, 'run_at', -3_600_000)
      await queue.claim()
      return fence
    }
  },
  {
    name: 'of the same attempt by another worker',
    make: async (queue) => ({ ...(await queue.running()), workerId: 'w2' })
  },
  {
    name: 'of an attempt that was never claimed',
    make: async (queue) => {
      const fence = await queue.running()
      return { ...fence, attempt: fence.attempt + 1 }
    }
  },
  {
    name: 'of an attempt that recovery ended',
    make: async (queue) => {
      const fence = await queue.running()
      await queue.loseLease(fence.taskId)
      return fence
    }
  },
  {
    name: 'of an attempt that used the last try and was recovered',
    make: async (queue) => {
      const fence = await queue.running({ maxAttempts: 1 })
      await queue.loseLease(fence.taskId)
      return fence
    }
  },
  {
    name: 'of a task that does not exist',
    make: () => Promise.resolve({ taskId: '9223372036854775807', workerId: 'w1', attempt: 1 })
  },
  {
    name: 'of an id that no row can have',
    make: () => Promise.resolve({ taskId: '18446744073709551615', workerId: 'w1', attempt: 1 })
  }
]

export function describeFencing(queue: QueueUnderTest): void {
  describe.each(staleFences)('a fence $name', ({ make }) => {
    it('renews nothing', async () => {
      const fence = await make(queue)
      const before = await queue.store.get(fence.taskId)
      expect(await queue.store.renew([fence])).toEqual({ renewed: [], lost: [fence], cancelRequested: [] })
      expect(await queue.store.get(fence.taskId)).toEqual(before)
    })

    it('saves no progress and no checkpoint', async () => {
      const fence = await make(queue)
      const before = await queue.store.get(fence.taskId)
      const update = { fence, progress: { total: 1, processed: 1, succeeded: 1, failed: 0, skipped: 0 } }
      expect(await queue.store.saveProgress([{ ...update, checkpoint: '{"stale":1}' }])).toEqual([fence])
      expect(await queue.store.get(fence.taskId)).toEqual(before)
    })

    it('writes no log line', async () => {
      const fence = await make(queue)
      await queue.store.appendLog([{ fence, level: 'info', message: 'stale' }])
      expect(await queue.count('log')).toBe(0)
    })

    it('settles nothing, whatever the outcome (FAULTS 14)', async () => {
      const fence = await make(queue)
      const before = await queue.store.get(fence.taskId)
      const artifacts = [{ name: 'a', contentType: 'b', bytes: 1, host: 'h', path: 'p', expiresInMs: 1_000 }]
      for (const settlement of everySettlement(fence)) {
        expect(await queue.store.settle([{ ...settlement, artifacts }])).toEqual([{ fence, state: undefined }])
      }
      expect(await queue.store.get(fence.taskId)).toEqual(before)
      expect(await queue.count('artifact')).toBe(0)
    })
  })

  describe('fences', () => {
    it('of an attempt that ended allow only the repeat of what ended it', async () => {
      const fence = await queue.running()
      await queue.settle({ fence, outcome: 'PARTIAL_SUCCESS', result: '1' })
      const before = await queue.detail(fence.taskId)
      expect(await queue.store.renew([fence])).toEqual({ renewed: [], lost: [fence], cancelRequested: [] })
      for (const settlement of everySettlement(fence)) {
        const accepted = settlement.outcome === 'PARTIAL_SUCCESS' ? 'PARTIAL_SUCCESS' : undefined
        expect(await queue.settle(settlement)).toBe(accepted)
      }
      expect(await queue.detail(fence.taskId)).toEqual(before)
    })

    it('are judged one by one in a batch', async () => {
      const good = await queue.running()
      const other = await queue.running()
      const stale = { ...good, workerId: 'w2' }
      expect(await queue.store.renew([stale, good, other])).toEqual({
        renewed: [good, other],
        lost: [stale],
        cancelRequested: []
      })
      const progress = { total: null, processed: 2, succeeded: 1, failed: 1, skipped: 0 }
      expect(
        await queue.store.saveProgress([
          { fence: stale, progress: { ...progress, processed: 9 } },
          { fence: good, progress },
          { fence: other, progress }
        ])
      ).toEqual([stale])
      await queue.store.appendLog([
        { fence: stale, level: 'warn', message: 'stale' },
        { fence: good, level: 'warn', message: 'good' }
      ])
      expect((await queue.store.log(good.taskId, null)).map((line) => line.message)).toEqual(['good'])
      expect(
        await queue.store.settle([
          { fence: stale, outcome: 'FAILED', error: failure },
          { fence: good, outcome: 'SUCCESS', result: null },
          { fence: other, outcome: 'FAILED', error: failure }
        ])
      ).toEqual([
        { fence: stale, state: undefined },
        { fence: good, state: 'SUCCESS' },
        { fence: other, state: 'FAILED' }
      ])
      expect((await queue.detail(good.taskId)).progress).toEqual(progress)
    })

    it('still hold after the lease ran out as long as nobody took the task away', async () => {
      const fence = await queue.running()
      await queue.shift(fence.taskId, 'lease_until', -3_600_000)
      expect((await queue.store.renew([fence])).renewed).toEqual([fence])
      await queue.shift(fence.taskId, 'lease_until', -3_600_000)
      expect(await queue.settle({ fence, outcome: 'SUCCESS', result: null })).toBe('SUCCESS')
    })

    it('renew to now plus the lease that the claim gave and tell of a wish to cancel', async () => {
      const kept = await queue.running()
      const cancelled = await queue.running()
      await queue.store.act(cancelled.taskId, 'cancel', 'ada')
      const before = await queue.detail(kept.taskId)
      await queue.shift(kept.taskId, 'lease_until', -3_600_000)
      expect(await queue.store.renew([kept, cancelled])).toEqual({
        renewed: [kept, cancelled],
        lost: [],
        cancelRequested: [cancelled]
      })
      const after = await queue.detail(kept.taskId)
      // A claim of the tests gives 60 s.
      expect(after.leaseUntil! - before.startedAt!).toBeGreaterThanOrEqual(60_000 - 1)
      expect(after.leaseUntil! - before.startedAt!).toBeLessThan(60_000 + 60_000)
      expect({ ...after, leaseUntil: 0 }).toEqual({ ...before, leaseUntil: 0 })
      expect(await queue.store.renew([])).toEqual({ renewed: [], lost: [], cancelRequested: [] })
    })
  })
}
