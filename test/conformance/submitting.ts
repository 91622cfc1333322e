import { describe, expect, it } from 'vitest'
import {
  AppError,
  taskLimits,
  taskStates,
  type ErrorCode,
  type NewTask,
  type NewTaskInput
} from '../../src-main/kernel/index.ts'
import { task, type QueueUnderTest } from './queue-under-test.ts'
import { reachState } from './reach-state.ts'

const differentKeys: { name: string; one: Partial<NewTaskInput>; other: Partial<NewTaskInput> }[] = [
  { name: 'emoji', one: { idempotencyKey: '🎩' }, other: { idempotencyKey: '💥' } },
  { name: 'case', one: { idempotencyKey: 'Bot-A' }, other: { idempotencyKey: 'bot-a' } },
  { name: 'a trailing space', one: { idempotencyKey: 'a' }, other: { idempotencyKey: 'a ' } },
  { name: 'an accent', one: { idempotencyKey: 'resume' }, other: { idempotencyKey: 'resumé' } },
  { name: 'the type', one: { idempotencyKey: 'k' }, other: { idempotencyKey: 'k', type: 'u' } },
  { name: 'the owner', one: { idempotencyKey: 'k' }, other: { idempotencyKey: 'k', owner: 'o' } },
  // Joined without a separator these would be one text.
  {
    name: 'where owner and key part',
    one: { owner: 'a', idempotencyKey: 'bc' },
    other: { owner: 'ab', idempotencyKey: 'c' }
  }
]

/** Tasks that the port must refuse whatever a caller's own checks let through. */
const invalid: { name: string; broken: Partial<NewTask>; code?: ErrorCode }[] = [
  { name: 'a title that is too long', broken: { title: 'x'.repeat(taskLimits.titleLength + 1) } },
  { name: 'a priority outside the closed set', broken: { priority: 10 } },
  { name: 'a type with a space', broken: { type: 'no such' } },
  { name: 'no attempts', broken: { maxAttempts: 0 } },
  { name: 'a due time after the year 9999', broken: { runAt: 8.64e15 } },
  { name: 'a key with half an emoji', broken: { idempotencyKey: 'k\ud83c' } },
  { name: 'a payload that is not JSON', broken: { payload: '{bad' }, code: 'INVALID_PAYLOAD' },
  {
    name: 'a payload of too many bytes',
    broken: { payload: JSON.stringify('€'.repeat(taskLimits.payloadBytes / 3)) },
    code: 'INVALID_PAYLOAD'
  }
]

export function describeSubmitting(queue: QueueUnderTest): void {
  describe('submitting', () => {
    it('stores what the producer handed in and stamps the rest', async () => {
      const runAt = Date.now() + 86_400_000
      const taskId = await queue.submit({
        owner: 'ann',
        title: 'Nightly 🌙 run ',
        businessKey: 'order-1',
        partitionKey: 'p',
        idempotencyKey: 'k',
        priority: 2,
        runAt,
        deadlineAt: runAt + 1_000,
        timeoutMs: 5_000,
        maxAttempts: 7,
        retryPolicy: { kind: 'list', delaysMs: [1, 2, 3] }
      })
      const detail = await queue.detail(taskId)
      expect(detail).toMatchObject({
        id: taskId,
        type: 't',
        state: 'QUEUED',
        owner: 'ann',
        title: 'Nightly 🌙 run ',
        businessKey: 'order-1',
        partitionKey: 'p',
        hasIdempotencyKey: true,
        priority: 2,
        runAt,
        deadlineAt: runAt + 1_000,
        timeoutMs: 5_000,
        maxAttempts: 7,
        retryPolicy: { kind: 'list', delaysMs: [1, 2, 3] },
        attempt: 0,
        attemptsUsed: 0,
        workerId: null,
        leaseUntil: null,
        startedAt: null,
        finishedAt: null,
        errorCode: null,
        errorMessage: null,
        progress: null,
        result: null,
        checkpoint: null,
        attempts: [],
        artifacts: []
      })
      expect(detail.stateSince).toBe(detail.createdAt)
    })

    it('is due at once when no time was chosen', async () => {
      const { runAt, createdAt } = await queue.detail(await queue.submit())
      expect(runAt).toBe(createdAt)
    })

    it('answers at the index of each input, over several batches', async () => {
      const tasks = Array.from({ length: taskLimits.submitBatch * 2 + 7 }, (_, i) => task({ title: `n${i}` }))
      const results = await queue.store.submit(tasks)
      expect(results).toHaveLength(tasks.length)
      expect(new Set(results.map((r) => r.taskId)).size).toBe(tasks.length)
      for (const i of [0, 499, 500, 1_006]) {
        expect((await queue.detail(results[i]!.taskId)).title).toBe(`n${i}`)
      }
      expect(await queue.count('task')).toBe(tasks.length)
    })

    it('does nothing for no tasks', async () => {
      expect(await queue.store.submit([])).toEqual([])
    })

    it.each(invalid)('refuses $name before it writes anything', async ({ broken, code = 'INVALID_INPUT' }) => {
      const tasks = [...Array.from({ length: taskLimits.submitBatch }, () => task()), { ...task(), ...broken }]
      const error = await queue.store.submit(tasks).then(
        () => undefined,
        (thrown: unknown) => thrown
      )
      expect(error).toBeInstanceOf(AppError)
      expect((error as AppError).code).toBe(code)
      expect(await queue.count('task')).toBe(0)
    })
  })

  describe('idempotency keys', () => {
    it.each(taskStates)('return the task that exists, in %s too', async (state) => {
      const taskId = await reachState(queue, state, { idempotencyKey: 'k' })
      const before = await queue.detail(taskId)
      expect(await queue.store.submit([task({ idempotencyKey: 'k' })])).toEqual([{ status: 'exists', taskId }])
      expect(await queue.detail(taskId)).toEqual(before)
      expect(before.state).toBe(state)
    })

    it('refuse another payload and name the task (FAULTS 41)', async () => {
      const taskId = await queue.submit({ idempotencyKey: 'k', payload: '{"a":1}' })
      const results = await queue.store.submit([
        task({ idempotencyKey: 'k', payload: '{"a":2}' }),
        task({ idempotencyKey: 'k', payload: '{"a":1}' })
      ])
      expect(results).toEqual([
        { status: 'conflict', taskId },
        { status: 'exists', taskId }
      ])
      expect((await queue.detail(taskId)).payload).toBe('{"a":1}')
    })

    it('hold inside one batch', async () => {
      const results = await queue.store.submit([
        task({ idempotencyKey: 'k' }),
        task({ idempotencyKey: 'k' }),
        task({ idempotencyKey: 'k', payload: '[]' }),
        task()
      ])
      const [first] = results
      expect(results.map((r) => r.status)).toEqual(['created', 'exists', 'conflict', 'created'])
      expect(results.slice(0, 3).map((r) => r.taskId)).toEqual(Array(3).fill(first!.taskId))
      expect(await queue.count('task')).toBe(2)
    })

    it.each(differentKeys)('differ by $name', async ({ one, other }) => {
      const results = await queue.store.submit([task(one), task(other)])
      expect(results.map((r) => r.status)).toEqual(['created', 'created'])
    })

    it('make one row of 8 racing submissions', async () => {
      const stores = await queue.openMany(8)
      const results = (await Promise.all(stores.map((store) => store.submit([task({ idempotencyKey: 'k' })])))).flat()
      expect(results.map((r) => r.status).sort()).toEqual(['created', ...Array<string>(7).fill('exists')])
      expect(new Set(results.map((r) => r.taskId)).size).toBe(1)
      expect(await queue.count('task')).toBe(1)
    })

    it('make one row a key when 8 submitters race with the same keys in different orders', async () => {
      const stores = await queue.openMany(8)
      const keys = Array.from({ length: 40 }, (_, i) => `k${i}`)
      const batches = stores.map((_, i) => [...keys.slice(i * 5), ...keys.slice(0, i * 5)])
      const results = await Promise.all(
        stores.map((store, i) => store.submit(batches[i]!.map((idempotencyKey) => task({ idempotencyKey }))))
      )
      const created = results.flat().filter((r) => r.status === 'created')
      expect(created).toHaveLength(keys.length)
      expect(await queue.count('task')).toBe(keys.length)
      const taskOf = (i: number, key: string) => results[i]![batches[i]!.indexOf(key)]!.taskId
      for (const key of keys) expect(new Set(stores.map((_, i) => taskOf(i, key))).size).toBe(1)
    })
  })
}
