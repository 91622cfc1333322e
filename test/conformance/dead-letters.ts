import { describe, expect, it } from 'vitest'
import {
  deadLetterFilter,
  type DeadLetter,
  type DeadLetterFilter,
  type Fence,
  type NewTaskInput
} from '../../src-main/kernel/index.ts'
import type { DeadLetterPage, DeadLetterStep, TaskStore } from '../../src-main/queue/task-store.ts'
import { failure, task, type QueueUnderTest } from './queue-under-test.ts'

const all = deadLetterFilter.parse({})
const filter = (change: Partial<DeadLetterFilter>): DeadLetterFilter => ({ ...all, ...change })

export function describeDeadLetters(queue: QueueUnderTest): void {
  const letters = async (change: Partial<DeadLetterFilter> = {}): Promise<readonly DeadLetter[]> =>
    (await queue.store.deadLetters(filter(change), 100, null)).rows
  const die = async (input: Partial<NewTaskInput> = {}, code = 'E_TEST'): Promise<Fence> => {
    const fence = await queue.running(input)
    await queue.settle({ fence, outcome: 'FAILED', error: { ...failure, class: 'final', code } })
    return fence
  }
  const dieMany = async (count: number): Promise<void> => {
    await queue.store.submit(Array.from({ length: count }, () => task()))
    const claimed = await queue.claim(count)
    await queue.store.settle(
      claimed.map(({ fence }) => ({ fence, outcome: 'FAILED', error: { ...failure, message: 'x'.repeat(4_000) } }))
    )
  }
  const retry = async (fence: Fence, code: string): Promise<Fence> => {
    await queue.settle({ fence, outcome: 'RETRY', error: { ...failure, code }, delayMs: 0 })
    await queue.shift(fence.taskId, 'run_at', -3_600_000)
    return (await queue.claim())[0]!.fence
  }
  /** Every step until the end, as an operation does it. */
  const runAll = async (
    action: 'replay' | 'discard',
    change: Partial<DeadLetterFilter> = {},
    { store = queue.store, limit = 3, by = 'ada' }: { store?: TaskStore; limit?: number; by?: string } = {}
  ): Promise<{ changed: number; skipped: number }> => {
    const upToId = (await store.newestDeadLetter()) ?? '1'
    const total = { changed: 0, skipped: 0 }
    let cursor: string | null = null
    do {
      const step: DeadLetterStep = await store[action](filter(change), { upToId, limit, cursor, by })
      total.changed += step.changed
      total.skipped += step.skipped
      cursor = step.nextCursor
    } while (cursor !== null)
    return total
  }

  describe('dead letters', () => {
    it('FAULTS 50: are written when a task fails for good, with what went wrong first and last', async () => {
      let fence = await queue.running({ title: 'T', owner: 'ann', maxAttempts: 3 })
      fence = await retry(fence, 'E_1')
      fence = await retry(fence, 'E_2')
      expect(await letters()).toEqual([])
      await queue.settle({ fence, outcome: 'FAILED', error: { ...failure, code: 'E_3', message: 'third' } })
      const { finishedAt, attempts } = await queue.detail(fence.taskId)
      expect(await letters()).toEqual([
        {
          id: expect.stringMatching(/^\d+$/) as string,
          taskId: fence.taskId,
          attempt: 3,
          type: 't',
          owner: 'ann',
          title: 'T',
          diedAt: finishedAt,
          reason: 'EXHAUSTED',
          firstError: { code: 'E_1', message: failure.message },
          lastError: { code: 'E_3', message: 'third' },
          resolution: 'OPEN',
          resolvedAt: null,
          resolvedBy: null
        }
      ])
      expect(attempts.map(({ error }) => error!.code)).toEqual(['E_1', 'E_2', 'E_3'])
    })

    it('name the reason: final error, lost lease, deadline, dependency', async () => {
      await die({ type: 'a' })
      const lost = await queue.running({ type: 'b', maxAttempts: 1 })
      await queue.loseLease(lost.taskId)
      const late = await queue.submit({ type: 'c' })
      await queue.passDeadline(late)
      await queue.recoverAll()
      const parent = await queue.submit()
      await queue.submit({ type: 'd', after: [parent] })
      await queue.store.act(parent, 'cancel', 'ada')
      expect((await letters()).map(({ type, reason, lastError }) => [type, reason, lastError!.code])).toEqual([
        ['d', 'DEPENDENCY', 'DEPENDENCY'],
        ['c', 'DEADLINE', 'DEADLINE'],
        ['b', 'EXHAUSTED', 'LEASE_EXPIRED'],
        ['a', 'FINAL', 'E_TEST']
      ])
    })

    it('are not written for a task that was cancelled, nor twice for a settlement that is repeated', async () => {
      const cancelled = await queue.submit()
      await queue.store.act(cancelled, 'cancel', 'ada')
      const fence = await queue.running()
      const settlement = { fence, outcome: 'FAILED', error: failure } as const
      await queue.settle(settlement)
      await queue.settle(settlement)
      expect((await letters()).map(({ taskId }) => taskId)).toEqual([fence.taskId])
    })

    it('of a task that is replayed and dies again are two, each with the causes since the one before', async () => {
      const first = await retry(await queue.running({ maxAttempts: 2 }), 'E_1')
      await queue.settle({ fence: first, outcome: 'FAILED', error: { ...failure, code: 'E_2' } })
      await queue.store.act(first.taskId, 'retry', 'ada')
      let second = (await queue.claim())[0]!.fence
      second = await retry(second, 'E_3')
      await queue.settle({ fence: second, outcome: 'FAILED', error: { ...failure, code: 'E_4' } })
      const seen = [...(await letters()), ...(await letters({ resolution: 'REPLAYED' }))]
      expect(seen.map((l) => [l.attempt, l.firstError!.code, l.lastError!.code, l.resolution])).toEqual([
        [4, 'E_3', 'E_4', 'OPEN'],
        [2, 'E_1', 'E_2', 'REPLAYED']
      ])
      expect(seen[1]!.resolvedAt).toBeGreaterThanOrEqual(seen[1]!.diedAt)
      expect(seen.map(({ resolvedBy }) => resolvedBy)).toEqual([null, 'ada'])
      expect((await queue.detail(first.taskId)).attempts).toHaveLength(4)
    })

    it('are two when a task dies twice without an attempt between', async () => {
      const parent = await queue.submit()
      const child = await queue.submit({ type: 'child', after: [parent] })
      await queue.store.act(parent, 'cancel', 'ada')
      await queue.store.act(child, 'retry', 'ada')
      await queue.passDeadline(child)
      await queue.recoverAll()
      expect((await letters()).map((l) => [l.attempt, l.reason])).toEqual([[0, 'DEADLINE']])
      expect((await letters({ resolution: 'REPLAYED' })).map((l) => [l.attempt, l.reason])).toEqual([[0, 'DEPENDENCY']])
    })

    it('are listed by page, newest first, and found by type, reason and last error', async () => {
      for (const [type, code] of [
        ['a', 'E_1'],
        ['b', 'E_1'],
        ['a', 'E_2'],
        ['c', 'E_2'],
        ['a', 'E_1']
      ] as const)
        await die({ type }, code)
      const pages: string[][] = []
      let cursor: string | null = null
      do {
        const page: DeadLetterPage = await queue.store.deadLetters(all, 2, cursor)
        pages.push(page.rows.map(({ type }) => type))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(pages).toEqual([['a', 'c'], ['a', 'b'], ['a']])
      const types = async (change: Partial<DeadLetterFilter>): Promise<string[]> =>
        (await letters(change)).map(({ type }) => type)
      expect(await types({ types: ['a'] })).toEqual(['a', 'a', 'a'])
      expect(await types({ types: ['c', 'b'] })).toEqual(['c', 'b'])
      expect(await types({ types: ['😀'] })).toEqual([])
      expect(await types({ types: ['c', 'é', "' OR '1' = '1"] })).toEqual(['c'])
      expect(await types({ errorCode: 'E_2' })).toEqual(['c', 'a'])
      expect(await types({ types: ['a'], errorCode: 'E_1', reason: 'FINAL' })).toEqual(['a', 'a'])
      expect(await types({ reason: 'DEADLINE' })).toEqual([])
      expect(await queue.store.countDeadLetters(filter({ types: ['a'] }), 100)).toBe(3)
      expect(await queue.store.countDeadLetters(all, 2)).toBe(3)
    })

    it('resolved one by one: a replay makes the task wait again, a discard leaves it failed', async () => {
      const replayed = await die()
      const discarded = await die()
      const [second, first] = await letters()
      const done = { status: 'done', from: 'FAILED', to: 'QUEUED' }
      expect(await queue.store.resolveDeadLetter(first!.id, 'replay', 'bob')).toEqual(done)
      expect(await queue.store.resolveDeadLetter(second!.id, 'discard', 'ada')).toEqual({ ...done, to: 'FAILED' })
      expect(await queue.detail(replayed.taskId)).toMatchObject({ state: 'QUEUED', attemptsUsed: 0, errorCode: null })
      expect(await queue.state(discarded.taskId)).toBe('FAILED')
      expect(await queue.store.resolveDeadLetter(first!.id, 'replay', 'ada')).toEqual({
        status: 'refused',
        state: 'QUEUED'
      })
      expect(await queue.store.resolveDeadLetter(second!.id, 'replay', 'ada')).toEqual({
        status: 'refused',
        state: 'FAILED'
      })
      expect(await queue.store.resolveDeadLetter('987654321', 'replay', 'ada')).toEqual({ status: 'missing' })
      const resolutions = ['REPLAYED', 'DISCARDED'] as const
      const found = (await Promise.all(resolutions.map((resolution) => letters({ resolution })))).flat()
      // Those who were refused are not on record, nor is a time moved by them.
      expect(found.map(({ taskId, resolvedBy }) => [taskId, resolvedBy])).toEqual([
        [replayed.taskId, 'bob'],
        [discarded.taskId, 'ada']
      ])
      // A discarded one is still an operator's to retry.
      expect(await queue.store.act(discarded.taskId, 'retry', 'ada')).toEqual(done)
    })

    it('keep at most 128 characters of who resolved them, and are not resolved by nobody', async () => {
      const { taskId } = await die()
      const [letter] = await letters()
      const range = { upToId: letter!.id, limit: 1, cursor: null, by: ' ' }
      for (const change of [
        () => queue.store.resolveDeadLetter(letter!.id, 'discard', ''),
        () => queue.store.act(taskId, 'retry', ''),
        () => queue.store.replay(all, range),
        () => queue.store.discard(all, range)
      ])
        await expect(change()).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
      expect(await letters()).toHaveLength(1)
      expect(await queue.state(taskId)).toBe('FAILED')
      await queue.store.act(taskId, 'retry', 'é😀'.repeat(50))
      const [replayed] = await letters({ resolution: 'REPLAYED' })
      expect(replayed!.resolvedBy).toBe(`${'é😀'.repeat(42)}é\uFFFD`)
    })

    it('resolved by two at once say who it was that was told so', async () => {
      const other = await queue.open()
      for (let round = 0; round < 10; round++) {
        const { taskId } = await die({ type: `t${round}` })
        const { id } = (await letters())[0]!
        const discard = () => queue.store.resolveDeadLetter(id, 'discard', 'ada')
        const replay = () => other.resolveDeadLetter(id, 'replay', 'bob')
        const [one, two] = await Promise.all(round % 2 === 0 ? [discard(), replay()] : [replay(), discard()])
        const answers = round % 2 === 0 ? [one, two] : [two, one]
        const [byAda] = (await letters({ resolution: 'DISCARDED' })).filter((letter) => letter.taskId === taskId)
        const [byBob] = (await letters({ resolution: 'REPLAYED' })).filter((letter) => letter.taskId === taskId)
        expect(answers.map(({ status }) => status)).toEqual(byAda ? ['done', 'refused'] : ['refused', 'done'])
        expect((byAda ?? byBob)!.resolvedBy).toBe(byAda ? 'ada' : 'bob')
        expect(await queue.state(taskId)).toBe(byAda ? 'FAILED' : 'QUEUED')
      }
    })

    it('of a task that was deleted cannot be replayed, but discarded', async () => {
      const { taskId } = await die()
      await queue.sql(`DELETE FROM taskdeck_task WHERE id = ${taskId}`)
      const [letter] = await letters()
      expect(await queue.store.resolveDeadLetter(letter!.id, 'replay', 'ada')).toEqual({ status: 'missing' })
      expect(await queue.store.resolveDeadLetter(letter!.id, 'discard', 'ada')).toMatchObject({ status: 'done' })
      expect(await letters()).toEqual([])
    })

    it('are replayed and discarded by filter, in steps, up to the newest at the start', async () => {
      for (let n = 0; n < 7; n++) await die({ type: 'a' })
      await die({ type: 'b' })
      const upToId = (await queue.store.newestDeadLetter())!
      const range = { upToId, limit: 5, by: 'ada' }
      const later = await die({ type: 'a' })
      const step = await queue.store.replay(filter({ types: ['a'] }), { ...range, cursor: null })
      expect(step).toMatchObject({ changed: 5, skipped: 0 })
      // Stopped here, another process goes on later.
      const other = await queue.open()
      const rest = await other.replay(filter({ types: ['a'] }), { ...range, cursor: step.nextCursor, by: 'bob' })
      expect(rest).toEqual({ changed: 2, skipped: 0, nextCursor: null })
      expect(await queue.state(later.taskId)).toBe('FAILED')
      expect(await queue.count('task', "state = 'QUEUED' AND type = 'a' AND attempts_used = 0")).toBe(7)
      expect(await runAll('discard', {}, { by: 'cleo' })).toEqual({ changed: 2, skipped: 0 })
      expect(await letters()).toEqual([])
      const resolvers = async (resolution: 'REPLAYED' | 'DISCARDED'): Promise<unknown[]> =>
        (await letters({ resolution })).map(({ resolvedBy }) => resolvedBy)
      expect(await resolvers('REPLAYED')).toEqual([...Array<string>(2).fill('bob'), ...Array<string>(5).fill('ada')])
      expect(await resolvers('DISCARDED')).toEqual(['cleo', 'cleo'])
      expect(await queue.store.replay(all, { ...range, cursor: null })).toEqual({
        changed: 0,
        skipped: 0,
        nextCursor: null
      })
    })

    it('that are not open cannot be replayed in bulk', async () => {
      const error = await queue.store
        .replay(filter({ resolution: 'DISCARDED' }), { upToId: '1', limit: 5, cursor: null, by: 'ada' })
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await queue.store.newestDeadLetter()).toBeNull()
    })

    it('FAULTS 52: counts exactly what was replayed while others replay, discard and retry the same', async () => {
      await dieMany(300)
      const stores = await queue.openMany(4)
      const [retrying, ...others] = stores
      const ids = (await letters()).map(({ taskId }) => taskId)
      const retried = async (): Promise<number> => {
        let done = 0
        for (const id of ids) if ((await retrying!.act(id, 'retry', 'ada')).status === 'done') done++
        return done
      }
      const [byHand, ...bulk] = await Promise.all([
        retried(),
        ...others.map((store, i) => runAll(i === 2 ? 'discard' : 'replay', {}, { store, limit: 20 }))
      ])
      const replays = bulk[0]!.changed + bulk[1]!.changed
      const queued = await queue.count('task', "state = 'QUEUED'")
      const discarded = await queue.count('dead_letter', "resolution = 'DISCARDED'")
      expect(queued + (await queue.count('task', "state = 'FAILED'"))).toBe(300)
      expect(replays + byHand).toBe(queued)
      expect(bulk[2]!.changed).toBe(discarded)
      expect(await letters()).toEqual([])
      expect(await queue.count('dead_letter')).toBe(300)
    })

    it('FAULTS 51: replays thousands step by step, each step no larger than asked', { timeout: 60_000 }, async () => {
      for (let round = 0; round < 4; round++) await dieMany(500)
      expect(await queue.store.countDeadLetters(all, 10_000)).toBe(2_000)
      expect(await runAll('replay', {}, { limit: 10_000 })).toEqual({ changed: 2_000, skipped: 0 })
      expect(await queue.count('task', "state = 'QUEUED'")).toBe(2_000)
      const upToId = (await queue.store.newestDeadLetter())!
      const range = { upToId, limit: 10_000, cursor: null, by: 'ada' }
      expect(await queue.store.replay(all, range)).toEqual({ changed: 0, skipped: 0, nextCursor: null })
    })
  })
}
