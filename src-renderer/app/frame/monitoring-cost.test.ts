import { expect, it } from 'vitest'
import { monitoringCost, withinSpan } from './monitoring-cost.ts'

const reading = (at: number, costMs = 4, costRows: number | null = 100) => ({ at, costMs, costRows })

it('is the time that readings took of the time that passed, and the rows of a minute', () => {
  const cost = monitoringCost([reading(0, 900, 9_000), reading(2_000), reading(4_000)])
  expect(cost).toEqual({ share: 0.002, rowsPerMinute: 3_000 })
})

it('is unknown before the second reading', () => {
  expect(monitoringCost([])).toBeNull()
  expect(monitoringCost([reading(5)])).toBeNull()
})

it('has no rows where one reading has none', () => {
  expect(monitoringCost([reading(0), reading(2_000, 4, null)])?.rowsPerMinute).toBeNull()
})

it('looks a minute back, and no further', () => {
  const readings = [0, 30_000, 60_000, 90_000].map((at) => reading(at))
  expect(withinSpan(readings).map(({ at }) => at)).toEqual([30_000, 60_000, 90_000])
})
