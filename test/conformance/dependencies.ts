import { describe, expect, it } from 'vitest'
import type { NewTaskInput, TaskState } from '../../src-main/kernel/index.ts'
import type { Recovered } from '../../src-main/queue/task-store.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'
import { reachState } from './reach-state.ts'

const good: readonly TaskState[] = ['SUCCESS', 'PARTIAL_SUCCESS']
const ends: readonly TaskState[] = [...good, 'FAILED', 'CANCELLED']

export function describeDependencies(queue: QueueUnderTest): void {
  const finish = async (taskId: string, outcome: 'SUCCESS' | 'FAILED' = 'SUCCESS', types = ['t']): Promise<void> => {
    const claimed = await queue.claim(1, { types })
    expect(claimed.map(({ fence }) => fence.taskId)).toEqual([taskId])
    const [{ fence }] = claimed as [(typeof claimed)[number]]
    if (outcome === 'SUCCESS') await queue.settle({ fence, outcome, result: null })
    else await queue.settle({ fence, outcome, error: failure })
  }
  const childOf = (after: string[], input: Partial<NewTaskInput> = {}): Promise<string> =>
    queue.submit({ type: 'child', after, ...input })
  const became = (taskId: string, state: TaskState): Recovered => ({
    taskId,
    type: 'child',
    reason: 'DEPENDENCY',
    state
  })
  const states = (ids: readonly string[]): Promise<TaskState[]> => Promise.all(ids.map((id) => queue.state(id)))

  describe('dependencies', () => {
    it('keep a task in CREATED until the last of them ended well, and then it is due at once', async () => {
      const parents = [await queue.submit(), await queue.submit()]
      const child = await childOf(parents)
      expect(await queue.detail(child)).toMatchObject({
        state: 'CREATED',
        waitsFor: parents.map((taskId) => ({ taskId, state: 'QUEUED', afterFailure: 'FAIL' }))
      })
      await finish(parents[0]!)
      expect(await queue.state(child)).toBe('CREATED')
      await finish(parents[1]!)
      const released = await queue.detail(child)
      expect(released).toMatchObject({ state: 'QUEUED', waitsFor: [{ state: 'SUCCESS' }, { state: 'SUCCESS' }] })
      expect(released.runAt).toBe(released.stateSince)
      await finish(child, 'SUCCESS', ['child'])
    })

    it.each(ends)('on a task that ended %s already: go on, or end with it, as the producer chose', async (state) => {
      const parent = await reachState(queue, state, { maxAttempts: 1 })
      const [submitted] = await queue.store.submit([task({ type: 'child', after: [parent] })])
      const isFailed = !good.includes(state)
      expect(submitted).toEqual({ status: 'created', taskId: submitted?.taskId, ...(isFailed && { isFailed }) })
      const [failing, released] = [
        submitted!.taskId,
        await childOf([parent], { afterFailure: 'RELEASE', runAt: Date.now() + 3_600_000 })
      ]
      expect(await states([failing, released])).toEqual([good.includes(state) ? 'QUEUED' : 'FAILED', 'QUEUED'])
      expect((await queue.detail(released)).runAt).toBeGreaterThan(Date.now() + 3_000_000)
    })

    it.each(['FAIL', 'RELEASE'] as const)('with a bad end lead to what was chosen: %s', async (afterFailure) => {
      const parents = [await queue.submit(), await queue.submit()]
      const child = await childOf(parents, { afterFailure })
      await finish(parents[0]!, 'FAILED')
      expect(await queue.state(child)).toBe(afterFailure === 'FAIL' ? 'FAILED' : 'CREATED')
      await finish(parents[1]!)
      const detail = await queue.detail(child)
      if (afterFailure === 'RELEASE') return expect(detail.state).toBe('QUEUED')
      expect(detail).toMatchObject({ state: 'FAILED', errorCode: 'DEPENDENCY', attempt: 0, attempts: [] })
      expect(detail.finishedAt).toBe(detail.stateSince)
    })

    it('end with the cancellation, the deadline and the lost lease of a task', async () => {
      const cancelled = await queue.submit()
      const late = await queue.submit()
      const lost = await queue.submit({ maxAttempts: 1 })
      const children = await Promise.all([cancelled, late, lost].map((id) => childOf([id])))
      await queue.store.act(cancelled, 'cancel', 'ada')
      await queue.passDeadline(late)
      await queue.recoverAll()
      await queue.claim()
      expect(await states(children)).toEqual(['FAILED', 'FAILED', 'CREATED'])
      await queue.loseLease(lost)
      expect(await states(children)).toEqual(['FAILED', 'FAILED', 'FAILED'])
    })

    it('do not end while the task only waits for its retry, and see its end after an operator’s retry', async () => {
      const fence = await queue.running()
      const child = await childOf([fence.taskId], { afterFailure: 'RELEASE' })
      await queue.settle({ fence, outcome: 'RETRY', error: failure, delayMs: 0 })
      expect(await queue.state(child)).toBe('CREATED')
      await queue.store.act(fence.taskId, 'cancel', 'ada')
      expect(await queue.state(child)).toBe('QUEUED')
      await queue.store.act(fence.taskId, 'retry', 'ada')
      const later = await childOf([fence.taskId])
      expect(await states([child, later])).toEqual(['QUEUED', 'CREATED'])
      await finish(fence.taskId)
      expect(await queue.state(later)).toBe('QUEUED')
    })

    it('leave a held task held, and an operator’s release does not wait for them', async () => {
      const parent = await queue.submit()
      const held = await childOf([parent], { held: true })
      const released = await childOf([parent])
      const cancelled = await childOf([parent])
      await queue.store.act(released, 'release', 'ada')
      await queue.store.act(cancelled, 'cancel', 'ada')
      expect(await states([held, released, cancelled])).toEqual(['CREATED', 'QUEUED', 'CANCELLED'])
      await finish(parent)
      expect(await states([held, released, cancelled])).toEqual(['CREATED', 'QUEUED', 'CANCELLED'])
      await queue.store.act(held, 'release', 'ada')
      expect(await queue.state(held)).toBe('QUEUED')
    })

    it('do not touch a task that was released by hand when they end badly', async () => {
      const parent = await queue.submit()
      const child = await childOf([parent])
      await queue.store.act(child, 'release', 'ada')
      await queue.store.act(parent, 'cancel', 'ada')
      expect(await queue.state(child)).toBe('QUEUED')
    })

    it('that are unknown are refused before anything is written, unless the key is known', async () => {
      const parent = await queue.submit()
      const known = await childOf([parent], { idempotencyKey: 'k' })
      for (const after of [['987654321'], [parent, '18446744073709551615'], ['99999999999999999999']]) {
        const error = await queue.store.submit([task(), task({ after })]).catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'INVALID_INPUT' })
      }
      expect(await queue.count('task')).toBe(2)
      const again = task({ type: 'child', idempotencyKey: 'k', after: ['987654321'] })
      expect(await queue.store.submit([again])).toEqual([{ status: 'exists', taskId: known }])
      expect((await queue.detail(known)).waitsFor).toHaveLength(1)
    })

    it('that let a task go on or fail are told by what ended the task that it waited for', async () => {
      const settled = async (taskId: string, outcome: 'SUCCESS' | 'FAILED') => {
        const { fence } = (await queue.claim(1))[0]!
        expect(fence.taskId).toBe(taskId)
        const end = outcome === 'SUCCESS' ? { fence, outcome, result: null } : { fence, outcome, error: failure }
        return (await queue.store.settle([end]))[0]
      }
      const parents = [await queue.submit(), await queue.submit(), await queue.submit(), await queue.submit()]
      const [first, second, third, alone] = parents as [string, string, string, string]
      const released = await childOf([first, second])
      const failed = await childOf([third])
      expect(await settled(first, 'SUCCESS')).not.toHaveProperty('dependents')
      expect(await settled(second, 'SUCCESS')).toMatchObject({
        state: 'SUCCESS',
        dependents: [became(released, 'QUEUED')]
      })
      expect(await settled(third, 'FAILED')).toMatchObject({ dependents: [became(failed, 'FAILED')] })
      expect(await settled(alone, 'SUCCESS')).not.toHaveProperty('dependents')
      const [cancelled, plain] = [await queue.submit(), await queue.submit()]
      const after = [await childOf([cancelled], { afterFailure: 'RELEASE' }), await childOf([cancelled])] as const
      const acted = await queue.store.act(cancelled, 'cancel', 'ada')
      expect(acted).toMatchObject({ status: 'done', to: 'CANCELLED' })
      const told = acted.status === 'done' ? acted.dependents : []
      expect(new Set(told)).toEqual(new Set([became(after[0], 'QUEUED'), became(after[1], 'FAILED')]))
      expect(await queue.store.act(plain, 'cancel', 'ada')).not.toHaveProperty('dependents')
    })

    it('that let more go on than one transaction may are told too', async () => {
      const parent = await queue.running()
      await queue.store.submit(Array.from({ length: 600 }, () => task({ type: 'child', after: [parent.taskId] })))
      const [result] = await queue.store.settle([{ fence: parent, outcome: 'SUCCESS', result: null }])
      expect(result).toMatchObject({ state: 'SUCCESS' })
      expect(result?.dependents).toHaveLength(600)
    })

    it('that go on when a lease or a deadline is over are told by the recovery', async () => {
      const [late, lost] = [await queue.submit({ type: 'late' }), (await queue.running({ maxAttempts: 1 })).taskId]
      const children = [
        await childOf([late], { afterFailure: 'RELEASE' }),
        await childOf([lost], { afterFailure: 'RELEASE' })
      ]
      await queue.passDeadline(late)
      await queue.shift(lost, 'lease_until', -3_600_000)
      const recovered = await queue.store.recover(100)
      const released = recovered.filter(({ state }) => state === 'QUEUED')
      expect(released.map(({ taskId }) => taskId).sort()).toEqual(children.sort())
      expect(recovered).toHaveLength(4)
    })

    it('named twice count once', async () => {
      const parent = await queue.submit()
      const child = await childOf([parent, parent])
      await finish(parent)
      expect(await queue.state(child)).toBe('QUEUED')
    })

    it('that end at the same moment in different transactions release a task once, and always', async () => {
      const stores = await queue.openMany(4)
      for (let round = 0; round < 15; round++) {
        const parents = (await queue.store.submit(stores.map(() => task()))).map(({ taskId }) => taskId)
        const child = await childOf(parents)
        const claimed = await queue.claim(stores.length)
        await Promise.all(
          claimed.map(({ fence }, i) => stores[i]!.settle([{ fence, outcome: 'SUCCESS', result: null }]))
        )
        expect(await queue.state(child)).toBe('QUEUED')
        expect((await queue.sql(`SELECT waits_for FROM taskdeck_task WHERE id = ${child}`))[0]).toEqual({
          waits_for: 0
        })
      }
    })

    it('are never missed when a task ends while others are submitted to run after it', async () => {
      const [ending, ...submitting] = await queue.openMany(4)
      for (let round = 0; round < 15; round++) {
        const fence = await queue.running()
        const [, ...results] = await Promise.all([
          round % 2 === 0
            ? ending!.settle([{ fence, outcome: 'SUCCESS', result: null }])
            : ending!.settle([{ fence, outcome: 'FAILED', error: failure }]),
          ...submitting.map((store) =>
            store.submit([task({ type: 'child', after: [fence.taskId] }), task({ type: 'other' })])
          )
        ])
        const children = results.map(([first]) => (first as { taskId: string }).taskId)
        expect(new Set(await states(children))).toEqual(new Set([round % 2 === 0 ? 'QUEUED' : 'FAILED']))
      }
    })

    it('of an operator’s action and an end at once leave one outcome', async () => {
      const other = await queue.open()
      for (let round = 0; round < 15; round++) {
        const fence = await queue.running()
        const child = await childOf([fence.taskId])
        const [, released] = await Promise.all([
          queue.settle({ fence, outcome: 'FAILED', error: failure }),
          other.act(child, 'release', 'ada')
        ])
        const state = await queue.state(child)
        expect(state).toBe(released.status === 'done' ? 'QUEUED' : 'FAILED')
        expect(await queue.count('dead_letter', `task_id = ${child}`)).toBe(state === 'FAILED' ? 1 : 0)
        await queue.store.act(child, 'cancel', 'ada')
      }
    })

    it('of 1,000 tasks in a row all end with the first, each with a dead letter', { timeout: 60_000 }, async () => {
      const ids = [await queue.submit()]
      for (let n = 1; n <= 1_000; n++) ids.push(await queue.submit({ type: 'child', after: [ids.at(-1)!] }))
      await queue.store.act(ids[0]!, 'cancel', 'ada')
      await queue.recoverAll()
      expect(await queue.count('task', "state = 'FAILED' AND error_code = 'DEPENDENCY'")).toBe(1_000)
      expect(await queue.count('dead_letter', "reason = 'DEPENDENCY' AND attempt = 0")).toBe(1_000)
      expect(await queue.count('ending')).toBe(0)
    })

    it('of 10,000 tasks on one are released in bounded steps, by any process', { timeout: 60_000 }, async () => {
      const parent = await queue.submit()
      const results = await queue.store.submit(
        Array.from({ length: 10_000 }, (_, i) => task({ type: 'child', after: [parent], held: i % 100 === 99 }))
      )
      expect(results).toHaveLength(10_000)
      await finish(parent)
      const atOnce = await queue.count('task', "type = 'child' AND state = 'QUEUED'")
      expect(atOnce).toBeLessThan(5_000)
      const [first, second] = await queue.openMany(2)
      const recovered: string[] = []
      const recover = async (store: typeof first): Promise<void> => {
        for (let call = 0; call < 40; call++) recovered.push(...(await store!.recover(500)).map(({ taskId }) => taskId))
      }
      await Promise.all([recover(first), recover(second)])
      expect(new Set(recovered).size).toBe(recovered.length)
      expect(atOnce + recovered.length).toBe(9_900)
      expect(await queue.count('task', "state = 'QUEUED'")).toBe(9_900)
      expect(await queue.count('task', "state = 'CREATED' AND waits_for = 0 AND held = 1")).toBe(100)
      expect(await queue.count('dependency', 'settled = 0')).toBe(0)
      expect(await queue.count('ending')).toBe(0)
    })

    it('of thousands that go on waiting for another task are counted down by one call of recovery', async () => {
      const parents = [await queue.submit(), await queue.submit()]
      await queue.store.submit(Array.from({ length: 4_000 }, () => task({ type: 'child', after: parents })))
      await finish(parents[0]!)
      expect(await queue.count('ending')).toBe(1)
      // It reports what it ended or released, and whoever calls it takes few for the end of the work.
      expect(await queue.store.recover(200)).toEqual([])
      expect(await queue.count('ending')).toBe(0)
      expect(await queue.count('task', "state = 'CREATED' AND waits_for = 1")).toBe(4_000)
    })

    it('wait for the next end of a task that was retried before all of its dependents were seen to', async () => {
      const parent = await queue.submit()
      await queue.store.submit(
        Array.from({ length: 4_000 }, () => task({ type: 'child', after: [parent], afterFailure: 'RELEASE' }))
      )
      await queue.store.act(parent, 'cancel', 'ada')
      await queue.store.act(parent, 'retry', 'ada')
      await queue.recoverAll()
      const released = await queue.count('task', "type = 'child' AND state = 'QUEUED'")
      expect(released).toBeLessThan(4_000)
      await finish(parent)
      await queue.recoverAll()
      expect(await queue.count('task', "type = 'child' AND state = 'QUEUED'")).toBe(4_000)
    })
  })
}
