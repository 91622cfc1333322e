import { describe, expect, it } from 'vitest'
import { recentLimits } from '../../src-main/queue/recent-attempts.ts'
import { failure, type QueueUnderTest } from './queue-under-test.ts'

const hour = 3_600_000
const everything = { fromMsAgo: hour, limit: recentLimits.ended, type: null }

export function describeRecentAttempts(queue: QueueUnderTest): void {
  /** Moves the end of a task's attempts; the start moves too, so that they last as long. */
  async function endedAgo(taskId: string, ms: number): Promise<void> {
    for (const column of ['started_at', 'ended_at']) {
      const value = queue.shifted(column, -ms)
      await queue.sql(`UPDATE taskdeck_attempt SET ${column} = ${value} WHERE task_id = ${taskId}`)
    }
  }

  describe('the attempts of the last while', () => {
    it('are none in a queue where nothing ran, at the time of the database', async () => {
      await queue.submit()
      const recent = await queue.store.recentAttempts(everything)
      expect(recent).toMatchObject({ ended: [], allEnded: true, running: [], allRunning: true, limits: [] })
      expect(Math.abs(recent.at - Date.now())).toBeLessThan(60_000)
    })

    it('tell who ran what, when, and how it ended', async () => {
      const done = await queue.running({ type: 'a' }, 'w1')
      await queue.settle({ fence: done, outcome: 'SUCCESS', result: null })
      const failed = await queue.running({ type: 'b' }, 'w2')
      await queue.settle({ fence: failed, outcome: 'FAILED', error: failure })
      const { at, ended, running } = await queue.store.recentAttempts(everything)
      expect(running).toEqual([])
      expect(ended).toHaveLength(2)
      expect(ended.find(({ taskId }) => taskId === done.taskId)).toMatchObject({
        attempt: 1,
        type: 'a',
        workerId: 'w1',
        outcome: 'SUCCESS',
        errorCode: null
      })
      expect(ended.find(({ taskId }) => taskId === failed.taskId)).toMatchObject({
        type: 'b',
        workerId: 'w2',
        outcome: 'FAILED',
        errorCode: failure.code
      })
      for (const one of ended) {
        expect(one.endedAt).toBeGreaterThanOrEqual(one.startedAt)
        expect(one.endedAt).toBeLessThanOrEqual(at + 1)
        const [attempt] = (await queue.detail(one.taskId)).attempts
        expect(one).toMatchObject({ startedAt: attempt!.startedAt, endedAt: attempt!.endedAt })
      }
    })

    it('have each attempt of a task on its own', async () => {
      const first = await queue.running({ maxAttempts: 3 })
      await queue.settle({ fence: first, outcome: 'RETRY', error: failure, delayMs: 0 })
      const [second] = await queue.claim()
      await queue.settle({ fence: second!.fence, outcome: 'HANDED_BACK' })
      const { ended } = await queue.store.recentAttempts(everything)
      expect(ended.map(({ attempt, outcome }) => `${attempt} ${outcome}`).sort()).toEqual(['1 RETRY', '2 HANDED_BACK'])
    })

    it('that run come with their lease, the first to expire first', async () => {
      const later = await queue.running({}, 'w1')
      const sooner = await queue.running({}, 'w2')
      await queue.shift(sooner.taskId, 'lease_until', -40_000)
      await queue.store.act(later.taskId, 'cancel', 'ada')
      const { at, running } = await queue.store.recentAttempts(everything)
      expect(running.map(({ taskId }) => taskId)).toEqual([sooner.taskId, later.taskId])
      expect(running[0]).toMatchObject({ attempt: 1, workerId: 'w2', type: 't', state: 'RUNNING', leaseMs: 60_000 })
      expect(running[1]).toMatchObject({ state: 'CANCEL_REQUESTED', workerId: 'w1' })
      expect(running[0]!.leaseUntil - at).toBeLessThanOrEqual(20_000)
      expect(running[1]!.stateSince).toBeGreaterThanOrEqual(running[1]!.startedAt)
    })

    it('are those that ended within the window, whenever they began', async () => {
      const old = await queue.running()
      await queue.settle({ fence: old, outcome: 'SUCCESS', result: null })
      await endedAgo(old.taskId, 120_000)
      const young = await queue.running()
      await queue.settle({ fence: young, outcome: 'SUCCESS', result: null })
      const ids = async (fromMsAgo: number): Promise<string[]> =>
        (await queue.store.recentAttempts({ ...everything, fromMsAgo })).ended.map(({ taskId }) => taskId)
      expect(await ids(60_000)).toEqual([young.taskId])
      expect(await ids(hour)).toEqual([young.taskId, old.taskId])
    })

    it('are the newest when there are more than asked for, and say so', async () => {
      const fences = []
      for (let i = 0; i < 4; i++) fences.push(await queue.running())
      for (const [i, fence] of fences.entries()) {
        await queue.settle({ fence, outcome: 'SUCCESS', result: null })
        await endedAgo(fence.taskId, i * 1_000)
      }
      const cut = await queue.store.recentAttempts({ ...everything, limit: 3 })
      expect(cut.allEnded).toBe(false)
      expect(cut.ended.map(({ taskId }) => taskId)).toEqual(fences.slice(0, 3).map(({ taskId }) => taskId))
      expect((await queue.store.recentAttempts({ ...everything, limit: 5 })).allEnded).toBe(true)
    })

    it('can be those of one type alone', async () => {
      const done = await queue.running({ type: 'a' })
      await queue.settle({ fence: done, outcome: 'SUCCESS', result: null })
      const other = await queue.running({ type: 'b' })
      await queue.settle({ fence: other, outcome: 'SUCCESS', result: null })
      const runs = await queue.running({ type: 'a' })
      await queue.running({ type: 'b' })
      const { ended, running, allEnded } = await queue.store.recentAttempts({ ...everything, limit: 2, type: 'a' })
      expect(ended.map(({ taskId }) => taskId)).toEqual([done.taskId])
      expect(running.map(({ taskId }) => taskId)).toEqual([runs.taskId])
      expect(allEnded).toBe(true)
    })

    it('are bounded, whatever is asked for', async () => {
      const fence = await queue.running()
      await queue.settle({ fence, outcome: 'SUCCESS', result: null })
      await endedAgo(fence.taskId, recentLimits.fromMsAgo + 60_000)
      const all = await queue.store.recentAttempts({ ...everything, fromMsAgo: Number.MAX_SAFE_INTEGER, limit: 1e9 })
      expect(all.ended).toEqual([])
      expect((await queue.store.recentAttempts({ ...everything, fromMsAgo: -5, limit: 0 })).ended).toEqual([])
    })
  })
}
