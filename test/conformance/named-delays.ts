import { describe, expect, it } from 'vitest'
import { defaultRetryPolicy, scheduleInput, type PolicyInput } from '../../src-main/kernel/index.ts'
import { oneLookMs } from './policies.ts'
import { task, type QueueUnderTest } from './queue-under-test.ts'

const list = (...delaysMs: number[]) => ({ kind: 'list' as const, delaysMs })
const named = (name: string) => ({ kind: 'named' as const, name })

export function describeNamedDelays(queue: QueueUnderTest): void {
  const setDelays = (name: string, ...delaysMs: number[]): Promise<void> =>
    queue.store.setPolicy({ scope: 'DELAYS', name, retryPolicy: list(...delaysMs) })
  const setType = (retryPolicy: PolicyInput['retryPolicy'], name = 't'): Promise<void> =>
    queue.store.setPolicy({ scope: 'TYPE', name, retryPolicy })
  const messageOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    expect(error).toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
    return (error as Error).message
  }
  const claimOne = async (store = queue.store) => (await queue.claim(1, { store }))[0]!
  const schedule = (name: string, delays: string) =>
    scheduleInput.parse({ name, cron: '0 0 1 1 *', task: { type: 't', payload: '{}', retryPolicy: named(delays) } })

  describe('retry delays with a name', () => {
    it('are looked up for the types and tasks that name them, and shown as what they are', async () => {
      await setDelays('gentle', 5_000, 30_000, 300_000)
      const steep = { kind: 'exponential', baseMs: 1, capMs: 9, jitter: 0 } as const
      await queue.store.setPolicy({ scope: 'DELAYS', name: 'steep 😀', retryPolicy: steep })
      await setType(named('gentle'))
      const byType = await queue.submit()
      expect(await claimOne()).toMatchObject({ retryPolicy: list(5_000, 30_000, 300_000) })
      expect(await queue.detail(byType)).toMatchObject({ retryPolicy: list(5_000, 30_000, 300_000) })
      const own = await queue.submit({ retryPolicy: named('steep 😀') })
      expect(await claimOne()).toMatchObject({ retryPolicy: steep })
      expect(await queue.detail(own)).toMatchObject({ retryPolicy: steep })
      expect((await queue.store.policies()).map(({ scope, name, retryPolicy }) => [scope, name, retryPolicy])).toEqual([
        ['DELAYS', 'gentle', list(5_000, 30_000, 300_000)],
        ['DELAYS', 'steep 😀', steep],
        ['TYPE', 't', named('gentle')]
      ])
    })

    it('that change take effect for all who name them, in another store within its next look', async () => {
      const other = await queue.open()
      await setDelays('gentle', 1)
      await setType(named('gentle'))
      await queue.store.setPolicy({ scope: 'QUEUE', name: '', retryPolicy: named('gentle') })
      await queue.store.submit([task({ priority: 0 }), task({ retryPolicy: named('gentle') }), task(), task()])
      expect(await claimOne(other)).toMatchObject({ retryPolicy: list(1) })
      await setDelays('gentle', 2)
      await new Promise((resolve) => setTimeout(resolve, oneLookMs))
      const claimed = await queue.claim(3, { store: other })
      expect(claimed.map(({ retryPolicy }) => retryPolicy)).toEqual([list(2), list(2), list(2)])
      const ofQueue = await queue.submit({ type: 'u' })
      expect(await queue.detail(ofQueue)).toMatchObject({ retryPolicy: list(2) })
    })

    it('decide when a lost lease comes back', async () => {
      await setDelays('gentle', 3_600_000, 7_200_000)
      const fence = await queue.running({ retryPolicy: named('gentle') })
      await setDelays('gentle', 5_400_000)
      await queue.loseLease(fence.taskId)
      const { state, runAt, stateSince } = await queue.detail(fence.taskId)
      expect(state).toBe('RETRY_WAIT')
      expect(runAt - stateSince).toBeCloseTo(5_400_000, 0)
    })

    it('that are not there are named by no policy, task or schedule; the error says which there are', async () => {
      expect(await messageOf(setType(named('gentle')))).toMatch(/"gentle"; there are none yet: set a policy/)
      await setDelays('steady', 1)
      await setDelays('abrupt', 1)
      const known = /no retry delays are named "gentle"; there are abrupt, steady$/
      expect(await messageOf(setType(named('gentle')))).toMatch(known)
      expect(await messageOf(setType(named('steady ')))).toMatch(/"steady "/)
      expect(await messageOf(queue.store.putSchedule(schedule('nightly', 'gentle')))).toMatch(known)
      const batch = [task(), task({ retryPolicy: named('steady') }), task({ retryPolicy: named('gentle') })]
      const failed = queue.store.submit(batch)
      expect(await messageOf(failed)).toMatch(known)
      await expect(failed).rejects.toMatchObject({ details: { position: 3 } })
      expect(await queue.count('task')).toBe(0)
      expect(await queue.store.policies()).toHaveLength(2)
      expect(await queue.store.schedules()).toEqual([])
    })

    it('are not removed while a policy or a schedule names them; the error says who does', async () => {
      for (const name of ['gentle', 'abrupt']) await setDelays(name, 1)
      await setType(named('gentle'))
      await setType(named('abrupt'), 'u')
      await queue.store.setPolicy({ scope: 'QUEUE', name: '', retryPolicy: named('gentle') })
      await queue.store.putSchedule(schedule('nightly', 'gentle'))
      await queue.store.putSchedule(schedule('weekly', 'abrupt'))
      const message = await messageOf(queue.store.removePolicy('DELAYS', 'gentle'))
      expect(message).toMatch(/named by the policy of the QUEUE, the policy of TYPE t, the schedule nightly\. /)
      expect(await queue.store.policies()).toHaveLength(5)
      await setType(list(1))
      await queue.store.removePolicy('QUEUE', '')
      await queue.store.removeSchedule('nightly')
      expect(await queue.store.removePolicy('DELAYS', 'gentle')).toBe(true)
      expect(await queue.store.removePolicy('DELAYS', 'gentle')).toBe(false)
    })

    it('that are gone leave a task to its type, then the queue, then the built-in delays', async () => {
      await setDelays('gentle', 1)
      const id = await queue.submit({ retryPolicy: named('gentle'), idempotencyKey: 'k' })
      await queue.store.removePolicy('DELAYS', 'gentle')
      expect(await queue.detail(id)).toMatchObject({ retryPolicy: defaultRetryPolicy })
      await queue.store.setPolicy({ scope: 'QUEUE', name: '', retryPolicy: list(2) })
      expect(await queue.detail(id)).toMatchObject({ retryPolicy: list(2) })
      await setType(list(3))
      expect(await claimOne()).toMatchObject({ retryPolicy: list(3) })
      // The same submission again finds the task that exists.
      const again = task({ retryPolicy: named('gentle'), idempotencyKey: 'k' })
      expect(await queue.store.submit([again])).toEqual([{ status: 'exists', taskId: id }])
    })

    it('that another program left dangling or as a name themselves count as not there', async () => {
      await setDelays('gentle', 1)
      await setDelays('abrupt', 2)
      await setType(named('gentle'))
      await queue.store.setPolicy({ scope: 'TYPE', name: '*', retryPolicy: list(4) })
      await queue.sql(
        `UPDATE taskdeck_policy SET retry_policy = '{"kind":"named","name":"abrupt"}' WHERE name = 'gentle'`
      )
      const id = await queue.submit()
      expect(await queue.detail(id)).toMatchObject({ retryPolicy: list(4) })
      await queue.sql("DELETE FROM taskdeck_policy WHERE name = 'gentle'")
      expect(await queue.store.removePolicy('DELAYS', 'gentle')).toBe(false)
      expect(await queue.detail(id)).toMatchObject({ retryPolicy: list(4) })
    })

    it('are there for every policy that names them, however setting and removing race', async () => {
      const other = await queue.open()
      for (let round = 0; round < 30; round++) {
        await queue.store.removePolicy('TYPE', 't')
        await setDelays('gentle', 1)
        const done = await Promise.allSettled([setType(named('gentle')), other.removePolicy('DELAYS', 'gentle')])
        const scopes = (await queue.store.policies()).map(({ scope }) => scope)
        expect([['DELAYS', 'TYPE'], []]).toContainEqual(scopes)
        expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      }
    })
  })
}
