import { describe, expect, it } from 'vitest'
import type { RetryPolicy } from '../../src-main/kernel/index.ts'
import { deadlinePassed, leaseExpired } from '../../src-main/queue/overdue.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'

const policy: RetryPolicy = { kind: 'list', delaysMs: [30_000] }

export function describeRecovering(queue: QueueUnderTest): void {
  const expire = (taskId: string): Promise<void> => queue.shift(taskId, 'lease_until', -3_600_000)

  describe('recovery', () => {
    it('retries a task whose lease ran out, after the delay of its policy', async () => {
      const fence = await queue.running({ retryPolicy: policy })
      await expire(fence.taskId)
      expect(await queue.store.recover(10)).toEqual([
        { taskId: fence.taskId, type: 't', reason: 'LEASE_EXPIRED', state: 'RETRY_WAIT' }
      ])
      const detail = await queue.detail(fence.taskId)
      expect(detail).toMatchObject({
        state: 'RETRY_WAIT',
        attempt: 1,
        attemptsUsed: 1,
        leaseUntil: null,
        finishedAt: null,
        errorCode: 'LEASE_EXPIRED',
        errorMessage: leaseExpired.message
      })
      expect(detail.attempts).toMatchObject([
        { attempt: 1, workerId: 'w1', outcome: 'LEASE_EXPIRED', error: { code: 'LEASE_EXPIRED' } }
      ])
      expect(detail.runAt - detail.attempts[0]!.endedAt!).toBeCloseTo(30_000, 0)
      expect(await queue.store.recover(10)).toEqual([])
    })

    it('ends what a program that writes the table itself left half done, and is held up by none of it', async () => {
      const [moved, ownerless, doubled, dead] = [
        await queue.running(),
        await queue.running(),
        await queue.running(),
        await queue.running()
      ]
      await queue.sql(`UPDATE taskdeck_task SET state = 'QUEUED' WHERE id = ${moved.taskId}`)
      await queue.sql(
        `UPDATE taskdeck_task SET worker_id = NULL, started_at = NULL, due_at = NULL WHERE id = ${ownerless.taskId}`
      )
      await queue.sql(`INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
        SELECT id, attempt, type, 'other', run_at, run_at, run_at, 'RETRY' FROM taskdeck_task WHERE id = ${doubled.taskId}`)
      for (const { taskId } of [moved, ownerless, doubled, dead]) await expire(taskId)
      const recovered = await queue.store.recover(10)
      expect(recovered.map(({ taskId }) => taskId).sort()).toEqual(
        [ownerless, doubled, dead].map(({ taskId }) => taskId).sort()
      )
      expect(await queue.store.recover(10)).toEqual([])
      for (const { taskId } of [ownerless, doubled, dead]) expect(await queue.state(taskId)).toBe('RETRY_WAIT')
      expect((await queue.detail(ownerless.taskId)).attempts).toMatchObject([
        { workerId: '', outcome: 'LEASE_EXPIRED' }
      ])
      expect((await queue.detail(doubled.taskId)).attempts).toMatchObject([{ workerId: 'other', outcome: 'RETRY' }])
    })

    it('fails a task whose attempts are used up', async () => {
      const fence = await queue.running({ maxAttempts: 1 })
      await queue.store.saveProgress([
        { fence, progress: { total: 2, processed: 1, succeeded: 1, failed: 0, skipped: 0 }, checkpoint: '1' }
      ])
      await expire(fence.taskId)
      expect(await queue.store.recover(10)).toMatchObject([{ reason: 'LEASE_EXPIRED', state: 'FAILED' }])
      const detail = await queue.detail(fence.taskId)
      expect(detail).toMatchObject({ state: 'FAILED', errorCode: 'LEASE_EXPIRED', leaseUntil: null })
      expect(detail.finishedAt).toBe(detail.stateSince)
      expect(detail.attempts).toMatchObject([{ outcome: 'LEASE_EXPIRED', progress: { processed: 1 } }])
    })

    it.each([5, 1])(
      'cancels a task that was asked to stop and whose worker is gone, at most %i attempts',
      async (maxAttempts) => {
        const fence = await queue.running({ maxAttempts })
        await queue.store.act(fence.taskId, 'cancel', 'ada')
        await expire(fence.taskId)
        expect(await queue.store.recover(10)).toMatchObject([{ reason: 'LEASE_EXPIRED', state: 'CANCELLED' }])
        const detail = await queue.detail(fence.taskId)
        expect(detail).toMatchObject({ state: 'CANCELLED', leaseUntil: null })
        expect(detail.finishedAt).toBe(detail.stateSince)
        expect(detail.attempts).toMatchObject([{ attempt: 1, outcome: 'LEASE_EXPIRED' }])
      }
    )

    it('takes nothing from the retry budget for a task that was asked to stop', async () => {
      await queue.store.setPolicy({
        ...{ scope: 'TYPE', name: 't', retriesPerMinute: 1 },
        retryPolicy: { kind: 'list', delaysMs: [0] }
      })
      const stopped = await queue.running()
      await queue.store.act(stopped.taskId, 'cancel', 'ada')
      await expire(stopped.taskId)
      await queue.recoverAll()
      const lost = await queue.running()
      await expire(lost.taskId)
      await queue.recoverAll()
      const { runAt, stateSince } = await queue.detail(lost.taskId)
      expect(runAt - stateSince).toBeLessThan(1)
    })

    it('fails waiting tasks whose deadline passed, without an attempt', async () => {
      const waiting = await queue.submit()
      const later = await queue.submit({ runAt: Date.now() + 3_600_000, deadlineAt: Date.now() + 1_800_000 })
      await queue.passDeadline(waiting)
      expect(await queue.store.recover(10)).toEqual([
        { taskId: waiting, type: 't', reason: 'DEADLINE', state: 'FAILED' }
      ])
      const detail = await queue.detail(waiting)
      expect(detail).toMatchObject({ state: 'FAILED', errorCode: 'DEADLINE', errorMessage: deadlinePassed.message })
      expect(detail).toMatchObject({ attempt: 0, attempts: [] })
      expect(detail.finishedAt).toBe(detail.stateSince)
      expect(await queue.state(later)).toBe('QUEUED')
    })

    it('fails tasks whose deadline passed while they were held or waited for others, and those that wait for them', async () => {
      const parent = (await queue.running()).taskId
      const waiting = await queue.submit({ after: [parent] })
      const next = await queue.submit({ after: [waiting], deadlineAt: Date.now() + 3_600_000 })
      const held = await queue.submit({ held: true })
      const inTime = await queue.submit({ after: [parent], deadlineAt: Date.now() + 3_600_000 })
      for (const id of [waiting, held]) await queue.passDeadline(id)
      await queue.recoverAll()
      const details = await Promise.all([waiting, held, next].map((id) => queue.detail(id)))
      expect(details.map(({ state, errorCode }) => `${state} ${errorCode}`)).toEqual([
        'FAILED DEADLINE',
        'FAILED DEADLINE',
        'FAILED DEPENDENCY'
      ])
      expect(await queue.count('dead_letter', "reason = 'DEADLINE'")).toBe(2)
      expect([await queue.state(parent), await queue.state(inTime)]).toEqual(['RUNNING', 'CREATED'])
    })

    it('fails a late task and a late one that waits for it once each', async () => {
      const parent = await queue.submit()
      const child = await queue.submit({ after: [parent] })
      for (const id of [parent, child]) await queue.passDeadline(id)
      await queue.recoverAll()
      expect(await queue.count('dead_letter', "reason = 'DEADLINE'")).toBe(2)
      expect(await queue.count('dead_letter')).toBe(2)
    })

    it('leaves everything else as it is', async () => {
      const live = await queue.running()
      const paused = await queue.submit()
      await queue.store.act(paused, 'pause', 'ada')
      await queue.passDeadline(paused)
      const waiting = await queue.submit({ deadlineAt: Date.now() + 3_600_000 })
      const before = await Promise.all([live.taskId, paused, waiting].map((id) => queue.detail(id)))
      expect(await queue.store.recover(10)).toEqual([])
      expect(await Promise.all([live.taskId, paused, waiting].map((id) => queue.detail(id)))).toEqual(before)
    })

    it('takes at most the limit of each kind and the rest in the next calls', async () => {
      await queue.store.submit(Array.from({ length: 5 }, () => task({ maxAttempts: 1 })))
      await queue.claim(5)
      const late = await queue.store.submit(Array.from({ length: 5 }, () => task()))
      for (const { taskId } of late) await queue.passDeadline(taskId)
      await queue.sql(
        `UPDATE taskdeck_task SET lease_until = ${queue.shifted('lease_until', -3_600_000)} WHERE state = 'RUNNING'`
      )
      const counts: number[][] = []
      for (let call = 0; call < 4; call++) {
        const recovered = await queue.store.recover(2)
        counts.push(['LEASE_EXPIRED', 'DEADLINE'].map((reason) => recovered.filter((r) => r.reason === reason).length))
      }
      expect(counts).toEqual([
        [2, 2],
        [2, 2],
        [1, 1],
        [0, 0]
      ])
      expect(await queue.count('task', "state = 'FAILED'")).toBe(10)
    })

    it('lets one of a recovery and a settlement win, never both', async () => {
      const [worker, ...sweepers] = await queue.openMany(3)
      await queue.store.submit(Array.from({ length: 60 }, () => task({ maxAttempts: 1 })))
      const claimed = await queue.claim(60)
      await queue.sql(`UPDATE taskdeck_task SET lease_until = ${queue.shifted('lease_until', -3_600_000)}`)
      const sweep = async (store: (typeof sweepers)[number]): Promise<string[]> => {
        const ids: string[] = []
        for (let call = 0; call < 15; call++) ids.push(...(await store.recover(5)).map((r) => r.taskId))
        return ids
      }
      const settleAll = async (): Promise<string[]> => {
        const ids: string[] = []
        for (const { fence } of claimed.toReversed()) {
          const [result] = await worker!.settle([{ fence, outcome: 'SUCCESS', result: null }])
          if (result!.state === 'SUCCESS') ids.push(fence.taskId)
        }
        return ids
      }
      const [settled, ...swept] = await Promise.all([settleAll(), ...sweepers.map(sweep)])
      const winners = [...settled, ...swept.flat()]
      expect(winners).toHaveLength(60)
      expect(new Set(winners).size).toBe(60)
      expect(await queue.count('task', "state = 'SUCCESS'")).toBe(settled.length)
      expect(await queue.count('task', "state = 'FAILED'")).toBe(swept.flat().length)
      expect(await queue.count('attempt')).toBe(60)
      expect(await queue.count('attempt', "outcome = 'SUCCESS'")).toBe(settled.length)
    })
  })

  describe('operators', () => {
    it('cancel a waiting task at once', async () => {
      const taskId = await queue.submit()
      expect(await queue.store.act(taskId, 'cancel', 'ada')).toEqual({
        status: 'done',
        from: 'QUEUED',
        to: 'CANCELLED'
      })
      const detail = await queue.detail(taskId)
      expect(detail).toMatchObject({ state: 'CANCELLED', attempts: [] })
      expect(detail.finishedAt).toBe(detail.stateSince)
    })

    it('ask a running task to stop; its worker keeps the lease', async () => {
      const fence = await queue.running()
      const before = await queue.detail(fence.taskId)
      await queue.store.act(fence.taskId, 'cancel', 'ada')
      expect(await queue.detail(fence.taskId)).toMatchObject({
        state: 'CANCEL_REQUESTED',
        workerId: 'w1',
        leaseUntil: before.leaseUntil,
        finishedAt: null
      })
    })

    it('retry a failed task from the start of its attempts, and the evidence and the fence stay', async () => {
      const first = await queue.running({ maxAttempts: 1 })
      await queue.settle({ fence: first, outcome: 'FAILED', error: failure })
      expect(await queue.store.act(first.taskId, 'retry', 'ada')).toEqual({
        status: 'done',
        from: 'FAILED',
        to: 'QUEUED'
      })
      const waiting = await queue.detail(first.taskId)
      expect(waiting).toMatchObject({
        state: 'QUEUED',
        attempt: 1,
        attemptsUsed: 0,
        finishedAt: null,
        errorCode: null,
        errorMessage: null
      })
      expect(waiting.runAt).toBe(waiting.stateSince)
      const [claimed] = await queue.claim()
      expect(claimed).toMatchObject({ fence: { attempt: 2 }, attemptsUsed: 1 })
      await queue.settle({ fence: claimed!.fence, outcome: 'SUCCESS', result: null })
      const { attempts } = await queue.detail(first.taskId)
      expect(attempts.map((a) => [a.attempt, a.outcome, a.error?.code])).toEqual([
        [1, 'FAILED', 'E_TEST'],
        [2, 'SUCCESS', undefined]
      ])
    })

    it('retry a task that failed by its deadline without failing it at once again', async () => {
      const taskId = await queue.submit()
      await queue.passDeadline(taskId)
      await queue.recoverAll()
      await queue.store.act(taskId, 'retry', 'ada')
      expect(await queue.store.recover(10)).toEqual([])
      expect(await queue.detail(taskId)).toMatchObject({ state: 'QUEUED', deadlineAt: null })
    })

    it('release and resume count the waiting from then on, but keep a due time that lies ahead', async () => {
      const held = await queue.submit({ held: true, runAt: Date.now() - 3_600_000 })
      await queue.store.act(held, 'release', 'ada')
      const released = await queue.detail(held)
      expect(released.runAt).toBe(released.stateSince)
      const ahead = Date.now() + 3_600_000
      const paused = await queue.submit({ runAt: ahead })
      await queue.store.act(paused, 'pause', 'ada')
      await queue.store.act(paused, 'resume', 'ada')
      expect(await queue.detail(paused)).toMatchObject({ state: 'QUEUED', runAt: ahead })
    })

    it('pause hides a task from claims until it is resumed', async () => {
      const taskId = await queue.submit()
      await queue.store.act(taskId, 'pause', 'ada')
      expect(await queue.store.claim({ workerId: 'w1', types: ['t'], limit: 1, leaseMs: 1_000 })).toEqual([])
      await queue.store.act(taskId, 'resume', 'ada')
      expect((await queue.claim()).map((c) => c.fence.taskId)).toEqual([taskId])
    })
  })
}
