import { expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { quotaDemands, requireRoom, type StoredQuota } from './quota.ts'

const quota = (scope: StoredQuota['scope'], name: string, limit: number): StoredQuota => ({
  scope,
  name,
  limit,
  setAt: 'then'
})
const seen = (stored: StoredQuota[], tasks: { type: string; owner: string }[]): unknown[] =>
  quotaDemands(stored, tasks).map(({ scope, name, limit, wanted }) => [scope, name, limit, wanted])

it('asks for nothing without a quota', () => {
  expect(quotaDemands([], [{ type: 'a', owner: 'ann' }])).toEqual([])
})

it('takes a quota of its own before that of *, which counts for each name by itself', () => {
  const stored = [quota('TYPE', 'a', 5), quota('TYPE', '*', 2), quota('OWNER', '*', 3), quota('QUEUE', '', 9)]
  const tasks = [
    { type: 'a', owner: 'ann' },
    { type: 'a', owner: 'bob' },
    { type: 'b', owner: 'ann' },
    { type: 'c', owner: '' }
  ]
  expect(seen(stored, tasks)).toEqual([
    ['OWNER', 'ann', 3, 2],
    ['OWNER', 'bob', 3, 1],
    ['QUEUE', '', 9, 4],
    ['TYPE', 'a', 5, 2],
    ['TYPE', 'b', 2, 1],
    ['TYPE', 'c', 2, 1]
  ])
})

it('is no quota of a type that * of the owners names, nor the other way round', () => {
  expect(seen([quota('OWNER', 'a', 1)], [{ type: 'a', owner: '' }])).toEqual([])
})

it('lets through what fits exactly, and says what does not', () => {
  const demand = { ...quota('TYPE', 'mail', 10), wanted: 3 }
  expect(() => requireRoom(demand, 3)).not.toThrow()
  const error = ((): unknown => {
    try {
      requireRoom(demand, -2)
      return undefined
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({
    code: 'QUOTA_EXCEEDED',
    kind: 'user',
    message: expect.stringContaining('the type mail is 10 unfinished tasks: there is room for 0') as string,
    details: { scope: 'TYPE', name: 'mail', limit: 10 }
  })
})
