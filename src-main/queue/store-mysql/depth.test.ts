import { expect, it } from 'vitest'
import { countedUpTo } from './depth.ts'

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

it('counts every group far beyond its expected size while there is room for all', () => {
  for (const [index, most] of countedUpTo([5_000, 8_000, 2_000]).entries())
    expect(most).toBeGreaterThanOrEqual([10_000, 16_000, 4_000][index] ?? 0)
})

it('counts small groups whole beside a huge one, which gets what is left', () => {
  const most = countedUpTo([3_000_000, 9_000, 4_000])
  expect(most.slice(1)).toEqual([18_000, 8_000])
  expect(most[0]).toBe(24_000)
})

it('bounds all groups together, and counts each a little however many there are', () => {
  const most = countedUpTo(Array.from({ length: 40 }, () => 500_000))
  expect(sum(most)).toBeLessThanOrEqual(50_000)
  const many = countedUpTo(Array.from({ length: 300 }, () => 500_000))
  expect(Math.min(...many)).toBe(1_000)
})
