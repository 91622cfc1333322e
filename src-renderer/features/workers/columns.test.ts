import { expect, it } from 'vitest'
import { columnsThatFit, columnWidths } from './columns.ts'

it('the table of workers fits a window of 1280 px, and shows all that operators look for there', () => {
  const shown = columnsThatFit(1_064)
  expect(shown.reduce((sum, name) => sum + columnWidths[name], 0)).toBeLessThanOrEqual(1_064)
  expect(shown).toEqual(
    expect.arrayContaining(['heartbeat', 'poll', 'claim', 'claimP95', 'threads', 'queued', 'database', 'menu'])
  )
})

it('the table of workers keeps what tells a worker and its health on a small window', () => {
  expect(columnsThatFit(300)).toEqual(['id', 'health', 'why', 'slots', 'running', 'heartbeat', 'database', 'menu'])
  expect(columnsThatFit(1_400)).toHaveLength(15)
})
