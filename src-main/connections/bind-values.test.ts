import mysql from 'mysql2'
import { describe, expect, it } from 'vitest'
import { bindValues } from './bind-values.ts'

describe('bindValues', () => {
  it('sends integers as BIGINT, signed as far as possible', () => {
    expect(bindValues([5, -7, 2n ** 63n - 1n, 2n ** 64n - 1n])).toEqual([
      mysql.TypedParameter.LONGLONG(5n),
      mysql.TypedParameter.LONGLONG(-7n),
      mysql.TypedParameter.LONGLONG(2n ** 63n - 1n),
      mysql.TypedParameter.LONGLONG.unsigned(2n ** 64n - 1n)
    ])
  })

  it('leaves fractions, text and null, and sends bytes as bytes', () => {
    expect(bindValues([0.5, '9007199254740993', null, new Uint8Array([1, 2, 3]).subarray(1)])).toEqual([
      0.5,
      '9007199254740993',
      null,
      Buffer.from([2, 3])
    ])
  })

  it.each([[Number.NaN], [Infinity], [2 ** 53], [2n ** 64n], [-(2n ** 63n) - 1n], [undefined as unknown as null]])(
    'refuses %s, which would not arrive as it is',
    (value) => expect(() => bindValues([value])).toThrow(expect.objectContaining({ code: 'BUG' }))
  )
})
