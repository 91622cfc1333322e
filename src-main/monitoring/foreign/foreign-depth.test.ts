import { describe, expect, it } from 'vitest'
import { aboutSize } from './foreign-depth.ts'

describe('a size that the server estimates', () => {
  it.each([
    [
      'is halved when what was counted is taken for twice as many',
      { all: 80_000, before: 20_000, upTo: 20_000 },
      40_000
    ],
    ['stays when the last moment is that of many', { all: 80_000, before: 1, upTo: 60_000 }, 80_000],
    ['is not multiplied by more than four', { all: 80_000, before: 1, upTo: 1 }, 320_000],
    ['is at least what was counted', { all: 5, before: 10_000, upTo: 10_000 }, 10_000]
  ])('%s', (_what, estimates, size) => {
    expect(aboutSize(10_000, estimates)).toBe(size)
  })
})
