import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlDatabase, SqlResult } from '../../kernel/index.ts'
import type { Settlement } from '../task-store.ts'
import { endEqualSuccesses, endSuccesses } from './end-successes.ts'
import { QuickSettlement } from './quick-settlement.ts'

const success = (taskId: string, changes: Partial<Settlement['fence']> = {}): Settlement => ({
  fence: { taskId, workerId: 'w', attempt: 1, ...changes },
  outcome: 'SUCCESS',
  result: null
})

describe('QuickSettlement', () => {
  let quick: QuickSettlement
  /** Of those named, how many rows the end of successes meets less. */
  let missing: number
  let ended: string[][]
  let statements: number
  let committed: number

  const execute = (sql: string, values: readonly unknown[] = []): Promise<SqlResult> => {
    statements++
    const ids = idsIn(sql, values)
    if (!ids) return Promise.resolve({ rows: [], affectedRows: 0, insertId: '0' })
    ended.push(ids)
    return Promise.resolve({ rows: [], affectedRows: ids.length - missing, insertId: '0' })
  }
  /** The tasks that the statement ends; undefined when it is another one. */
  const idsIn = (sql: string, values: readonly unknown[]): string[] | undefined => {
    if (sql === endSuccesses) return (JSON.parse(String(values[0])) as [string][]).map(([id]) => id)
    const length = [2, 4].find((some) => sql === endEqualSuccesses(some))
    return length === undefined ? undefined : [...new Set(values.slice(0, length).map(String))]
  }
  const transaction: SqlDatabase['transaction'] = async (work) => {
    const result = await work({ execute })
    committed++
    return result
  }
  const database = { execute, transaction } as SqlDatabase

  beforeEach(() => {
    quick = new QuickSettlement()
    missing = 0
    ended = []
    statements = 0
    committed = 0
  })

  const settle = (...settlements: Settlement[]): ReturnType<QuickSettlement['settle']> =>
    quick.settle(database, settlements)

  it('ends successes in two statements, in the order of their ids, and answers in the order that they came in', async () => {
    const settlements = ['10', '9', '2'].map((taskId) => success(taskId))
    expect(await settle(...settlements)).toEqual(settlements.map(({ fence }) => ({ fence, state: 'SUCCESS' })))
    expect(ended).toEqual([['2', '9', '10']])
    expect([statements, committed]).toEqual([2, 1])
  })

  it('ends tasks at different attempts together too', async () => {
    expect(await settle(success('2', { attempt: 3 }), success('1'))).toHaveLength(2)
    expect(ended).toEqual([['1', '2']])
    expect([statements, committed]).toEqual([2, 1])
  })

  it('commits nothing when one of them was not met', async () => {
    missing = 1
    expect(await settle(success('1'), success('2'))).toBeUndefined()
    expect([statements, committed]).toEqual([1, 0])
  })

  it('is tried ever less often while batches are not met, and again at once when one is', async () => {
    missing = 1
    for (let batch = 0; batch < 1_000; batch++) await settle(success('1'))
    expect(ended.length).toBeLessThan(25)
    missing = 0
    ended = []
    for (let batch = 0; batch < 65; batch++) await settle(success('1'))
    expect(ended.length).toBeGreaterThan(0)
    ended = []
    for (let batch = 0; batch < 10; batch++) await settle(success('1'))
    expect(ended).toHaveLength(10)
  })

  it.each<[string, Settlement[]]>([
    ['another outcome', [success('1'), { fence: success('2').fence, outcome: 'HANDED_BACK' }]],
    ['a partial success', [{ ...success('1'), outcome: 'PARTIAL_SUCCESS', result: null }]],
    ['progress', [{ ...success('1'), progress: { total: 1, processed: 1, succeeded: 1, failed: 0, skipped: 0 } }]],
    ['a long result', [{ fence: success('1').fence, outcome: 'SUCCESS', result: `"${'x'.repeat(5_000)}"` }]],
    ['one task twice', [success('1'), success('1', { attempt: 2 })]],
    ['two workers', [success('1'), success('2', { workerId: 'v' })]],
    ['a counter that no row has', [success('1', { attempt: 4_294_967_296 })]],
    ['an id that no row has', [success('x')]],
    ['a worker that the column would take for another one', [success('1', { workerId: 'w ' })]],
    ['nothing', []]
  ])('leaves a batch with %s alone', async (_, settlements) => {
    expect(await settle(...settlements)).toBeUndefined()
    expect(statements).toBe(0)
  })
})
