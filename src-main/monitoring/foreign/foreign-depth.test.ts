import { describe, expect, it } from 'vitest'
import { systemClock, type ProbeLimit, type ProbeRound, type SqlRow } from '../../kernel/index.ts'
import { compileProfile } from '../../schema-profiles/index.ts'
import { aboutSize, readForeignDepth } from './foreign-depth.ts'
import { jobsProfile as profile } from './jobs-profile.fixture.ts'
import { SearchTime } from './search-time.ts'

const time = new SearchTime(systemClock)
const compiled = compileProfile(profile, [
  { name: 'PRIMARY', columns: ['id'] },
  { name: 'mine', columns: ['state', 'kind', 'at'] }
])

/** A long queue of three types: one of them short, one whose rows have no time. */
function longQueue(expected: number[]): ProbeRound {
  const types = ['a', 'b', 'c']
  const answer = (sql: string): SqlRow[] => {
    if (sql.includes('GROUP BY')) return [{ type: 'a', n: 10_001 }]
    if (sql.includes('OFFSET'))
      return [
        { position: 0, since: '2026-01-31 12:00:00', id: 9 },
        { position: 1, since: null, id: 10 }
      ]
    if (!sql.includes('COUNT(*)')) return types.splice(0, 1).map((type) => ({ type }))
    return [
      { position: 0, n: 16_667 },
      { position: 1, n: 5 },
      { position: 2, n: 16_667 }
    ]
  }
  return {
    now: '2026-01-31 12:00:00.000000',
    rows: ({ sql }) => Promise.resolve(answer(sql)),
    expectedRows: () => Promise.resolve(expected),
    cut: () => undefined,
    end: () => Promise.reject(new Error('not here'))
  }
}
const depthOf = async (expected: number[]) =>
  (await readForeignDepth(longQueue(expected), compiled, { nowMs: 0, time }))?.depth

describe('a long queue', () => {
  it('is estimated type by type, but for those without a time to ask for', async () => {
    const depth = await depthOf([100_000, 30_000, 3_334])
    expect(depth).toHaveLength(3)
    expect(depth).toEqual(
      expect.arrayContaining([
        { type: 'a', state: 'QUEUED', count: 50_000, accuracy: 'about' },
        { type: 'b', state: 'QUEUED', count: 5 },
        { type: 'c', state: 'QUEUED', count: 16_667, accuracy: 'atLeast' }
      ])
    )
  })

  it('of which the server tells less than was asked is "at least", not a number of another type', async () => {
    expect(await depthOf([100_000, 33_334])).toContainEqual({
      ...{ type: 'a', state: 'QUEUED' },
      ...{ count: 16_667, accuracy: 'atLeast' }
    })
  })
})

it('looks for no more types once its time is over, and says that it did not look further', async () => {
  let now = 0
  const slow = { ...systemClock, monotonic: () => (now += 3_000) }
  const limits: string[] = []
  const round = { ...longQueue([]), cut: ({ probe, reason }: ProbeLimit) => void limits.push(`${probe} ${reason}`) }
  const found = await readForeignDepth(round, compiled, { nowMs: 0, time: new SearchTime(slow) })
  expect(limits).toContain('depthByType budget')
  expect(found?.types.size).toBe(0)
})

describe('a size that the server estimates', () => {
  it.each([
    ['is halved when what was counted is taken for twice as many', { all: 80_000, counted: 20_000 }, 40_000],
    ['is not multiplied by more than four', { all: 80_000, counted: 1 }, 320_000],
    ['is at least what was counted', { all: 5, counted: 10_000 }, 10_000]
  ])('%s', (_what, expected, size) => {
    expect(aboutSize(10_000, expected)).toBe(size)
  })
})
