import { describe, expect, it } from 'vitest'
import { taskLimits, type AttemptError, type Fence } from '../../src-main/kernel/index.ts'
import { failure, type QueueUnderTest } from './queue-under-test.ts'

const progress = { total: 10, processed: 4, succeeded: 2, failed: 1, skipped: 1 }
const report = {
  name: 'errors 🧾.csv',
  contentType: 'text/csv',
  bytes: 123,
  host: 'host-1',
  path: '/data/errors.csv',
  expiresInMs: 86_400_000
}

const oddTexts: { name: string; text: string }[] = [
  { name: '20 MB', text: 'a€🎩'.repeat(2_500_000) },
  { name: 'a NUL', text: 'before\0after' },
  { name: 'half an emoji', text: 'before\ud83cafter' },
  { name: 'half an emoji at the border', text: `${'x'.repeat(taskLimits.errorMessageBytes - 1)}🎩` },
  { name: 'nothing', text: '' },
  { name: 'quotes and backslashes', text: `'"\\\\';DROP TABLE taskdeck_task;--` }
]

export function describeSettling(queue: QueueUnderTest): void {
  const claimAgain = async (taskId: string): Promise<Fence> => {
    await queue.shift(taskId, 'run_at', -3_600_000)
    return (await queue.claim())[0]!.fence
  }

  describe('settling', () => {
    it('writes result, progress and the attempt, and ends the lease', async () => {
      const fence = await queue.running()
      const result = '{"z":1,"a":12345678901234567890}'
      expect(await queue.settle({ fence, outcome: 'SUCCESS', result, progress })).toBe('SUCCESS')
      const detail = await queue.detail(fence.taskId)
      expect(detail).toMatchObject({
        state: 'SUCCESS',
        result,
        progress,
        leaseUntil: null,
        attempt: 1,
        attemptsUsed: 1
      })
      expect(detail.finishedAt).toBe(detail.stateSince)
      expect(detail.attempts).toEqual([
        {
          attempt: 1,
          workerId: 'w1',
          dueAt: detail.createdAt,
          startedAt: detail.startedAt,
          endedAt: detail.finishedAt,
          outcome: 'SUCCESS',
          error: null,
          progress
        }
      ])
    })

    it('keeps the progress that was saved before when the settlement names none', async () => {
      const fence = await queue.running()
      await queue.store.saveProgress([{ fence, progress, checkpoint: '{"row":4}' }])
      await queue.settle({ fence, outcome: 'FAILED', error: failure })
      const detail = await queue.detail(fence.taskId)
      expect(detail).toMatchObject({ progress, errorCode: 'E_TEST', errorMessage: 'did not work' })
      expect(detail.attempts[0]).toMatchObject({ outcome: 'FAILED', error: failure, progress })
    })

    it('hands the checkpoint to the next attempt and keeps it when an update names none', async () => {
      const fence = await queue.running()
      await queue.store.saveProgress([{ fence, progress, checkpoint: '{"row": 4}' }])
      await queue.store.saveProgress([{ fence, progress: { ...progress, processed: 5 } }])
      await queue.settle({ fence, outcome: 'RETRY', error: failure, delayMs: 0 })
      await queue.shift(fence.taskId, 'run_at', -3_600_000)
      const [claimed] = await queue.claim()
      expect(claimed).toMatchObject({ checkpoint: '{"row": 4}', attemptsUsed: 2, fence: { attempt: 2 } })
    })

    it('keeps the counts, also that there are none, when an update names only a checkpoint', async () => {
      const counted = await queue.running()
      const uncounted = await queue.running()
      const both = await queue.running()
      await queue.store.saveProgress([{ fence: counted, progress }])
      await queue.store.saveProgress([
        { fence: counted, checkpoint: '1' },
        { fence: uncounted, checkpoint: '2' },
        { fence: both, progress: { ...progress, total: null } },
        { fence: both, checkpoint: '3' }
      ])
      expect(await queue.detail(counted.taskId)).toMatchObject({ progress, checkpoint: '1' })
      expect(await queue.detail(uncounted.taskId)).toMatchObject({ progress: null, checkpoint: '2' })
      expect(await queue.detail(both.taskId)).toMatchObject({ progress: { ...progress, total: null }, checkpoint: '3' })
    })

    it('refuses a checkpoint over the limit before it writes any of the batch', async () => {
      const fence = await queue.running()
      const checkpoint = JSON.stringify('€'.repeat(taskLimits.checkpointBytes / 3))
      const updates = [
        { fence, progress },
        { fence, progress, checkpoint }
      ]
      const error = await queue.store.saveProgress(updates).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await queue.detail(fence.taskId)).toMatchObject({ progress: null, checkpoint: null })
    })

    it('starts each attempt without the progress of the one before', async () => {
      const fence = await queue.running()
      await queue.settle({ fence, outcome: 'RETRY', error: failure, delayMs: 0, progress })
      const second = await claimAgain(fence.taskId)
      expect((await queue.detail(fence.taskId)).progress).toBeNull()
      await queue.settle({ fence: second, outcome: 'SUCCESS', result: null })
      const { attempts } = await queue.detail(fence.taskId)
      expect(attempts.map((a) => a.progress)).toEqual([progress, null])
    })

    it('delays a retry by the database clock', async () => {
      const fence = await queue.running()
      expect(await queue.settle({ fence, outcome: 'RETRY', error: failure, delayMs: 60_000 })).toBe('RETRY_WAIT')
      const detail = await queue.detail(fence.taskId)
      expect(detail.runAt - detail.attempts[0]!.endedAt!).toBeCloseTo(60_000, 0)
      expect(detail).toMatchObject({ state: 'RETRY_WAIT', leaseUntil: null, finishedAt: null, errorCode: 'E_TEST' })
      const request = { workerId: 'w1', types: ['t'], limit: 1, leaseMs: 1_000 }
      expect(await queue.store.claim(request)).toEqual([])
      await queue.shift(fence.taskId, 'run_at', -61_000)
      const [next] = await queue.claim()
      const [, running] = (await queue.detail(fence.taskId)).attempts
      expect(next!.fence).toEqual({ ...fence, attempt: 2 })
      expect(running).toMatchObject({ attempt: 2, dueAt: detail.runAt - 61_000, outcome: null })
    })

    it('does not count a hand-back, and the attempt number still grows', async () => {
      const first = await queue.running()
      const { runAt } = await queue.detail(first.taskId)
      expect(await queue.settle({ fence: first, outcome: 'HANDED_BACK' })).toBe('QUEUED')
      const waiting = await queue.detail(first.taskId)
      // It keeps its place in the queue: it was due since then.
      expect(waiting).toMatchObject({
        state: 'QUEUED',
        attempt: 1,
        attemptsUsed: 0,
        leaseUntil: null,
        runAt
      })
      const [second] = await queue.claim()
      expect(second).toMatchObject({ fence: { attempt: 2 }, attemptsUsed: 1 })
      const { attempts } = await queue.detail(first.taskId)
      expect(attempts.map((a) => [a.attempt, a.outcome])).toEqual([
        [1, 'HANDED_BACK'],
        [2, null]
      ])
    })

    it('numbers the attempts 1 to n without gaps, each with its own evidence', async () => {
      let fence = await queue.running({ maxAttempts: 10 })
      const { taskId } = fence
      for (const code of ['E_1', 'E_2']) {
        await queue.settle({ fence, outcome: 'RETRY', error: { ...failure, code }, delayMs: 0 })
        fence = await claimAgain(taskId)
      }
      await queue.settle({ fence, outcome: 'HANDED_BACK' })
      fence = await claimAgain(taskId)
      await queue.loseLease(taskId)
      fence = await claimAgain(taskId)
      await queue.settle({ fence, outcome: 'FAILED', error: { ...failure, code: 'E_5' } })
      const detail = await queue.detail(taskId)
      expect(detail).toMatchObject({ state: 'FAILED', attempt: 5, attemptsUsed: 4, errorCode: 'E_5' })
      expect(detail.attempts.map((a) => [a.attempt, a.outcome, a.error?.code])).toEqual([
        [1, 'RETRY', 'E_1'],
        [2, 'RETRY', 'E_2'],
        [3, 'HANDED_BACK', undefined],
        [4, 'LEASE_EXPIRED', 'LEASE_EXPIRED'],
        [5, 'FAILED', 'E_5']
      ])
    })

    it.each(['SUCCESS', 'PARTIAL_SUCCESS'] as const)(
      'clears the error of an earlier attempt on %s',
      async (outcome) => {
        const fence = await queue.running()
        await queue.settle({ fence, outcome: 'RETRY', error: failure, delayMs: 0 })
        await queue.settle({ fence: await claimAgain(fence.taskId), outcome, result: null })
        expect(await queue.detail(fence.taskId)).toMatchObject({ errorCode: null, errorMessage: null })
      }
    )

    it.each([
      { outcome: 'SUCCESS', state: 'SUCCESS' },
      { outcome: 'RETRY', state: 'CANCELLED' },
      { outcome: 'FAILED', state: 'FAILED' },
      { outcome: 'CANCELLED', state: 'CANCELLED' },
      { outcome: 'HANDED_BACK', state: 'CANCELLED' }
    ] as const)('ends a task that was asked to stop: $outcome leads to $state', async ({ outcome, state }) => {
      const fence = await queue.running()
      await queue.store.act(fence.taskId, 'cancel', 'ada')
      const body = outcome === 'SUCCESS' ? { result: null } : { error: failure, delayMs: 1_000 }
      const settlement = { fence, outcome, ...body } as Parameters<typeof queue.settle>[0]
      expect(await queue.settle(settlement)).toBe(state)
      const detail = await queue.detail(fence.taskId)
      expect(detail).toMatchObject({ state, leaseUntil: null })
      expect(detail.finishedAt).toBe(detail.stateSince)
      expect(detail.attempts).toHaveLength(1)
      expect(await queue.settle(settlement)).toBe(state)
    })

    it('accepts a repeat after a lost reply once, also when the task has moved on', async () => {
      const artifacts = [report]
      const done = await queue.running()
      const success = { fence: done, outcome: 'SUCCESS', result: '1', progress, artifacts } as const
      const retried = await queue.running()
      const retry = { fence: retried, outcome: 'RETRY', error: failure, delayMs: 0 } as const
      const back = await queue.running()
      const handBack = { fence: back, outcome: 'HANDED_BACK' } as const
      const first = await queue.store.settle([success, retry, handBack])
      expect(first.map((r) => r.state)).toEqual(['SUCCESS', 'RETRY_WAIT', 'QUEUED'])
      await queue.shift(retried.taskId, 'run_at', -3_600_000)
      await queue.claim(2)
      const before = await Promise.all([done, retried, back].map((fence) => queue.detail(fence.taskId)))
      const other = await queue.open()
      const repeated = await other.settle([success, retry, handBack])
      expect(repeated.map((r) => r.state)).toEqual(first.map((r) => r.state))
      expect(await Promise.all([done, retried, back].map((fence) => queue.detail(fence.taskId)))).toEqual(before)
      expect(await queue.count('artifact')).toBe(1)
      expect(await queue.count('attempt')).toBe(3)
    })

    it('accepts one of two settlements that race with one fence', async () => {
      const stores = await queue.openMany(2)
      for (let round = 0; round < 10; round++) {
        const fence = await queue.running()
        const [success, failed] = await Promise.all([
          stores[0]!.settle([{ fence, outcome: 'SUCCESS', result: null }]),
          stores[1]!.settle([{ fence, outcome: 'FAILED', error: failure }])
        ])
        const states = [success[0]!.state, failed[0]!.state].filter((state) => state !== undefined)
        expect(states).toEqual([await queue.state(fence.taskId)])
        expect(await queue.count('attempt', `task_id = ${fence.taskId}`)).toBe(1)
      }
    })

    it('does nothing for no settlements', async () => {
      expect(await queue.store.settle([])).toEqual([])
    })

    it.each(oddTexts)('records an error whose text is $name (FAULTS 46)', async ({ text }) => {
      const error: AttemptError = { code: 'E_TEST', message: text, class: 'final' }
      const fence = await queue.running()
      const retried = await queue.running()
      const results = await queue.store.settle([
        { fence, outcome: 'FAILED', error },
        { fence: retried, outcome: 'RETRY', error, delayMs: 60_000 }
      ])
      expect(results.map((r) => r.state)).toEqual(['FAILED', 'RETRY_WAIT'])
      for (const { taskId } of [fence, retried]) {
        const { errorMessage, attempts } = await queue.detail(taskId)
        expect(Buffer.byteLength(errorMessage!)).toBeLessThanOrEqual(taskLimits.errorMessageBytes)
        expect(errorMessage!.slice(0, 6)).toBe(text.slice(0, 6))
        expect(errorMessage).toBe(errorMessage!.toWellFormed())
        expect(attempts[0]!.error!.message).toBe(errorMessage)
      }
    })

    it('records an error whose code does not fit', async () => {
      const fence = await queue.running()
      const error: AttemptError = { code: '🎩'.repeat(500), message: 'm', class: 'final' }
      expect(await queue.settle({ fence, outcome: 'FAILED', error })).toBe('FAILED')
      expect((await queue.detail(fence.taskId)).errorCode!.length).toBeLessThanOrEqual(64)
    })
  })

  describe('artifacts', () => {
    it('are stored with the settlement and found again by task and id', async () => {
      const fence = await queue.running()
      await queue.settle({
        fence,
        outcome: 'PARTIAL_SUCCESS',
        result: null,
        artifacts: [report, { ...report, name: 'b' }]
      })
      const { artifacts, finishedAt } = await queue.detail(fence.taskId)
      const { expiresInMs, ...stored } = report
      expect(artifacts).toHaveLength(2)
      expect(artifacts[0]).toMatchObject({ ...stored, attempt: 1, createdAt: finishedAt })
      expect(artifacts[0]!.expiresAt - artifacts[0]!.createdAt).toBeCloseTo(expiresInMs, 0)
      expect(await queue.store.artifact(fence.taskId, artifacts[1]!.id)).toEqual(artifacts[1])
    })

    it('are not found under another task or an id that never was', async () => {
      const fence = await queue.running()
      const other = await queue.submit()
      await queue.settle({ fence, outcome: 'SUCCESS', result: null, artifacts: [report] })
      const { artifacts } = await queue.detail(fence.taskId)
      expect(await queue.store.artifact(other, artifacts[0]!.id)).toBeUndefined()
      expect(await queue.store.artifact(fence.taskId, '987654321')).toBeUndefined()
    })
  })
}
