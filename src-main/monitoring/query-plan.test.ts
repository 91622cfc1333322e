import { describe, expect, it } from 'vitest'
import { expectedRowsOf, isCheapPlan, mostSorted, mostWalked, smallTable } from './query-plan.ts'

const step = (more: Record<string, string | number | null>) => ({
  id: '1',
  select_type: 'SIMPLE',
  table: 'taskdeck_task',
  type: 'range',
  key: 'taskdeck_task_claim',
  rows: '1000000',
  Extra: 'Using where; Using index',
  ...more
})

describe('a plan', () => {
  it('that reads a range of an index in its order is cheap, however long the range', () => {
    expect(isCheapPlan([step({})], { tableRows: 0 })).toBe(true)
  })

  it.each(['ALL', 'index'])('that reads all of a table (%s) is dear, unless the table is small', (type) => {
    expect(isCheapPlan([step({ type, rows: smallTable + 1 })], { tableRows: 0 })).toBe(false)
    expect(isCheapPlan([step({ type, rows: smallTable })], { tableRows: 0 })).toBe(true)
  })

  it.each(['Using where; Using filesort', 'Using index; Using temporary'])('that sorts much is dear: %s', (Extra) => {
    expect(isCheapPlan([step({ Extra, rows: mostSorted + 1 })], { tableRows: 0 })).toBe(false)
    expect(isCheapPlan([step({ Extra, rows: mostSorted })], { tableRows: 0 })).toBe(true)
  })

  it('that walks along an index for rows that fit is as dear as the table is large, though few are expected', () => {
    const walk = step({ type: 'index', rows: 1, Extra: 'Using where' })
    expect(isCheapPlan([walk], { tableRows: smallTable + 1 })).toBe(false)
    expect(isCheapPlan([walk], { tableRows: smallTable })).toBe(true)
    expect(isCheapPlan([step({ type: 'index', rows: 1, Extra: 'Using index' })], { tableRows: smallTable + 1 })).toBe(
      true
    )
  })

  it('of a probe that reads past rows which do not fit is as dear as its range, whatever its LIMIT', () => {
    const range = (rows: number) => [step({ type: 'ref', rows, Extra: 'Using where' })]
    expect(isCheapPlan(range(mostWalked + 1), { tableRows: 0, readsPastLimit: true })).toBe(false)
    expect(isCheapPlan(range(mostWalked), { tableRows: 0, readsPastLimit: true })).toBe(true)
    expect(isCheapPlan(range(mostWalked + 1), { tableRows: 0 })).toBe(true)
  })

  it('may sort what a LIMIT inside of it has bounded', () => {
    const outer = step({ table: '<derived2>', type: 'ALL', rows: 2_000_000, Extra: 'Using temporary; Using filesort' })
    expect(isCheapPlan([outer, step({})], { tableRows: 0 })).toBe(true)
  })

  it('may sort so much in all its steps together', () => {
    const sorting = step({ rows: mostSorted / 2 + 1, Extra: 'Using where; Using filesort' })
    expect(isCheapPlan([sorting], { tableRows: 0 })).toBe(true)
    expect(isCheapPlan([sorting, sorting], { tableRows: 0 })).toBe(false)
  })

  it.each([
    ['Using where; Using index', true],
    ['Using where', false],
    ['Using index condition; Using where', false]
  ])('of a probe that needs no more than its index is cheap when it reads no more: %s', (Extra, isCheap) => {
    const plan = [step({ Extra })]
    expect(isCheapPlan(plan, { tableRows: smallTable + 1, readsIndexOnly: true })).toBe(isCheap)
    expect(isCheapPlan(plan, { tableRows: smallTable, readsIndexOnly: true })).toBe(true)
    expect(isCheapPlan(plan, { tableRows: smallTable + 1 })).toBe(true)
  })

  it('is as dear as its dearest step', () => {
    expect(isCheapPlan([step({}), step({ type: 'ALL' })], { tableRows: 0 })).toBe(false)
  })

  it('that reads nothing is cheap', () => {
    expect(
      isCheapPlan([step({ table: null, type: null, rows: null, Extra: 'Impossible WHERE' })], { tableRows: 0 })
    ).toBe(true)
  })

  it('tells how many rows each table is expected to give, in order', () => {
    const union = step({ table: '<union1,2>', rows: null })
    expect(expectedRowsOf([step({ rows: 7 }), step({ rows: '90' }), union])).toEqual([7, 90])
  })
})
