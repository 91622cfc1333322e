import { describe, expect, it } from 'vitest'
import { systemClock, type Clock, type SqlRunner, type SqlValue } from '../../kernel/index.ts'
import { findGroups, KnownGroups } from './claim-groups.ts'

interface Head {
  readonly rank: number
  readonly type: string
  readonly due: boolean
}

/** Answers a jump as the index would; counts the jumps. */
function indexOf(heads: readonly Head[]): SqlRunner & { jumps: number } {
  const sorted = [...heads].sort((a, b) => a.rank - b.rank || (a.type < b.type ? -1 : 1))
  const runner = {
    jumps: 0,
    execute: (_sql: string, values: readonly SqlValue[] = []) => {
      runner.jumps++
      const [rank, type] = values as [number, string]
      const head = sorted.find((entry) => entry.rank > rank || (entry.rank === rank && entry.type >= type))
      const row = head && {
        claim_rank: head.rank,
        type: head.type,
        run_at: `at ${head.type}`,
        due: head.due ? '1' : '0'
      }
      return Promise.resolve({ rows: row ? [row] : [], affectedRows: 0, insertId: '0' })
    }
  }
  return runner
}

const due = (rank: number, type: string): Head => ({ rank, type, due: true })
const named = async (heads: readonly Head[], types: readonly string[]): Promise<string[]> =>
  (await findGroups(indexOf(heads), types)).map(({ rank, type }) => `${rank}${type}`)

describe('findGroups', () => {
  it('finds the due groups of the named types, most urgent first', async () => {
    const heads = [due(5, 'a'), due(0, 'b'), due(0, 'x'), { rank: 1, type: 'a', due: false }, due(9, 'b'), due(5, 'c')]
    expect(await named(heads, ['a', 'b'])).toEqual(['0b', '5a', '9b'])
    expect(await named(heads, ['x'])).toEqual(['0x'])
    expect(await named(heads, ['nothing'])).toEqual([])
    expect(await named(heads, [])).toEqual([])
  })

  it('asks once on an empty queue, and jumps over the groups of others', async () => {
    const empty = indexOf([])
    await findGroups(empty, ['a', 'b', 'c'])
    expect(empty.jumps).toBe(1)
    const crowded = indexOf(Array.from({ length: 300 }, (_, i) => due(3, `other${String(i).padStart(3, '0')}`)))
    await findGroups(crowded, ['a', 'z'])
    expect(crowded.jumps).toBeLessThanOrEqual(3)
  })
})

describe('KnownGroups', () => {
  let now = 0
  const clock: Clock = { ...systemClock, monotonic: () => now }
  const slow = (heads: readonly Head[], costMs: number): SqlRunner => ({
    execute: (sql, values) => {
      now += costMs
      return indexOf(heads).execute(sql, values)
    }
  })

  it('trusts a look for 20 times what it cost, and never longer than 250 ms', async () => {
    const known = new KnownGroups(clock)
    await known.look(slow([due(0, 'a')], 1), ['a']) // two jumps and the policies
    const cheap = now
    now = cheap + 59
    expect(known.fresh(['a'])).toHaveLength(1)
    now = cheap + 60
    expect(known.fresh(['a'])).toBeUndefined()
    await known.look(slow([due(0, 'a')], 500), ['a'])
    const dear = now
    now = dear + 249
    expect(known.fresh(['a'])).toHaveLength(1)
    now = dear + 250
    expect(known.fresh(['a'])).toBeUndefined()
  })

  it('looks again for other types, and after this process made tasks claimable', async () => {
    const known = new KnownGroups(clock)
    await known.look(slow([due(0, 'a')], 10), ['a'])
    expect(known.fresh(['a', 'b'])).toBeUndefined()
    expect(known.fresh(['a'])).toHaveLength(1)
    known.forget()
    expect(known.fresh(['a'])).toBeUndefined()
  })

  it('does not trust a look that was under way when it was told to forget', async () => {
    const known = new KnownGroups(clock)
    const runner = slow([due(0, 'a')], 10)
    const looking = known.look(runner, ['a'])
    known.forget()
    await looking
    expect(known.fresh(['a'])).toBeUndefined()
    await known.look(runner, ['a'])
    expect(known.fresh(['a'])).toHaveLength(1)
  })

  it('goes on from the floor of a claim and forgets groups that gave out', async () => {
    const known = new KnownGroups(clock)
    const groups = await known.look(slow([due(0, 'a'), due(1, 'a'), due(2, 'a')], 10), ['a'])
    const [first, second] = groups
    if (!first || !second) throw new Error('three groups were expected')
    known.advance(
      new Map([
        [first, undefined],
        [second, { ...second, floor: 'later' }]
      ])
    )
    expect(known.fresh(['a'])?.map(({ rank, floor }) => [rank, floor])).toEqual([
      [1, 'later'],
      [2, 'at a']
    ])
  })
})
