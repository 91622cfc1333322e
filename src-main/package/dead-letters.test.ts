import { beforeEach, expect, it } from 'vitest'
import type { DeadLetterStore } from '../queue/task-store.ts'
import { deadLettersOf, type QueueDeadLetters } from './dead-letters.ts'

let asked: unknown[][]
let letters: QueueDeadLetters
beforeEach(() => {
  asked = []
  const store: Pick<DeadLetterStore, 'newestDeadLetter' | 'replay' | 'resolveDeadLetter'> = {
    newestDeadLetter: () => Promise.resolve('9'),
    replay: (...call) => {
      asked.push(call)
      return Promise.resolve({ changed: 1, skipped: 0, nextCursor: null })
    },
    resolveDeadLetter: (...call) => {
      asked.push(call)
      return Promise.resolve({ status: 'done', from: 'FAILED', to: 'QUEUED' })
    }
  }
  letters = deadLettersOf(() => store as DeadLetterStore)
})

it('says who resolves one and many', async () => {
  await letters.resolve('1', 'replay', { by: 'ada' })
  await letters.replay({}, { by: 'bob' })
  expect(asked).toEqual([
    ['1', 'replay', 'ada'],
    [expect.anything(), expect.objectContaining({ by: 'bob', upToId: '9' })]
  ])
})

it.each<[what: string, call: () => Promise<unknown>]>([
  ['an action that is none', () => letters.resolve('1', 'Discard' as 'discard')],
  ['no action', () => letters.resolve('1', undefined as unknown as 'discard')],
  ['a signal as the options', () => letters.replay({}, AbortSignal.abort() as object)],
  ['a signal that is none', () => letters.replay({}, { signal: true as unknown as AbortSignal })],
  ['no options', () => letters.replay({}, null as unknown as object)]
])('refuses %s and asks the store for nothing', async (_what, call) => {
  await expect(call()).rejects.toMatchObject({ code: 'INVALID_INPUT', kind: 'user' })
  expect(asked).toEqual([])
})

it('begins nothing when it is aborted already', async () => {
  expect(await letters.replay({}, { signal: AbortSignal.abort() })).toEqual({ changed: 0, skipped: 0 })
  expect(asked).toEqual([])
})
