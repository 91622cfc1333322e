import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { Arena } from '../mutants/arena.ts'

/* Sections D and E of the list of known faults (docs/faults.md): uniqueness, errors. */

let arena: Arena
beforeAll(async () => {
  arena = await Arena.open(inject('mariadbUrl'))
})
afterEach(() => arena.reset())
afterAll(() => arena.close())

it('FAULTS 40: keys that collations take for one are different keys', async () => {
  const producer = await arena.contender('p1')
  const keys = ['Bot-A', 'bot-a', 'a', 'a ', '🎩', '💥', 'ß', 'ss', 'e\u0301', 'é']
  const ids = new Set<string>()
  for (const idempotencyKey of keys) ids.add((await arena.submit(producer.store, 1, { idempotencyKey }))[0] ?? '')
  expect(ids.size).toBe(keys.length)
})

it('FAULTS 41: the same key of another type or owner is another task', async () => {
  const producer = await arena.contender('p1')
  const idempotencyKey = 'order-1'
  const ids = [
    ...(await arena.submit(producer.store, 1, { idempotencyKey })),
    ...(await arena.submit(producer.store, 1, { idempotencyKey, type: 'u', payload: '{"other":1}' })),
    ...(await arena.submit(producer.store, 1, { idempotencyKey, owner: 'tenant-2', payload: '{"other":2}' }))
  ]
  expect(new Set(ids).size).toBe(3)
})

it('FAULTS 50: every error of a task stays, also after the last one and after an operator retried it', async () => {
  const worker = await arena.contender('w1')
  const [taskId = ''] = await arena.submit(worker.store, 1, {
    maxAttempts: 4,
    retryPolicy: { kind: 'list', delaysMs: [0] }
  })
  for (const code of ['FIRST', 'SECOND', 'THIRD']) {
    const [claimed] = await worker.claim()
    const error = { code, message: `it was ${code}`, class: 'retryable' } as const
    await worker.settle({ fence: claimed!.fence, outcome: 'RETRY', error, delayMs: 0 })
  }
  const [last] = await worker.claim()
  await arena.expire(last!.fence)
  await worker.store.recover(10)
  const codes = ['FIRST', 'SECOND', 'THIRD', 'LEASE_EXPIRED']
  const errorsOf = async (): Promise<(string | undefined)[]> =>
    (await worker.store.get(taskId))?.attempts.map(({ error }) => error?.code) ?? []
  expect(await errorsOf()).toEqual(codes)
  await worker.store.act(taskId, 'retry', 'ada')
  expect(await errorsOf()).toEqual(codes)
})
