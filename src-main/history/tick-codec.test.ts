import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeTick, encodeTick } from './tick-codec.ts'
import type { SeriesValue } from './tick-codec.ts'

const decoded = (data: Uint8Array): SeriesValue[] => {
  const values: SeriesValue[] = []
  decodeTick(data, (series, value) => values.push({ series, value }))
  return values
}
const tick = fc.uniqueArray(
  fc.record({
    series: fc.integer({ min: 1, max: 2 ** 40 }),
    value: fc.oneof(fc.double({ noNaN: true }), fc.maxSafeNat())
  }),
  { selector: ({ series }) => series }
)

describe('tick codec', () => {
  it('gives back every value exactly, sorted by series', () => {
    fc.assert(
      fc.property(tick, (values) => {
        expect(decoded(encodeTick(values))).toEqual([...values].sort((a, b) => a.series - b.series))
      })
    )
  })

  it('takes three bytes for a small count and a near series', () => {
    expect(encodeTick([1, 2, 3].map((series) => ({ series, value: 300 })))).toHaveLength(9)
  })

  it('throws a RangeError on bytes cut off within a value', () => {
    const data = encodeTick([{ series: 1, value: 0.5 }])
    expect(() => decoded(data.subarray(0, -1))).toThrow(RangeError)
  })
})
