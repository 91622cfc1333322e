import { describe, expect, it } from 'vitest'
import { chunksOf, padded, paddedLength, perLength, powerChunks } from './statement-text.ts'

describe('lists of statements', () => {
  it('come in powers of two from two on, filled up with their last value', () => {
    expect([1, 2, 3, 5, 200].map(paddedLength)).toEqual([2, 2, 4, 8, 256])
    expect(padded(['a'])).toEqual(['a', 'a'])
    expect(padded([1, 2, 3])).toEqual([1, 2, 3, 3])
    expect(padded([])).toEqual([])
  })

  it('are cut without losing or moving a value', () => {
    const values = Array.from({ length: 500 }, (_, i) => i)
    expect(chunksOf(values, 256).map((chunk) => chunk.length)).toEqual([256, 244])
    expect(powerChunks(values, 128).map((chunk) => chunk.length)).toEqual([128, 128, 128, 64, 32, 16, 4])
    expect(powerChunks(values, 128).flat()).toEqual(values)
    expect(powerChunks([], 128)).toEqual([])
  })

  it('have one text for each length', () => {
    let built = 0
    const text = perLength((length) => `${length}:${built++}`)
    expect([text(2), text(4), text(2)]).toEqual(['2:0', '4:1', '2:0'])
  })
})
