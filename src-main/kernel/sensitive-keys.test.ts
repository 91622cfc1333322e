import { describe, expect, it } from 'vitest'
import { areSensitiveKeys, comparableName, requireSensitiveKeys, sensitiveKeyLimits } from './sensitive-keys.ts'

const { keys, length } = sensitiveKeyLimits

describe('names of sensitive fields', () => {
  it('are compared without case, width, spaces, _ - and .', () => {
    for (const name of ['API-Key', 'api_key', 'Api Key', 'api.key', 'ＡＰＩ＿ｋｅｙ'])
      expect(comparableName(name)).toBe('apikey')
  })

  it('may be as many and as long as the limits say, in any script', () => {
    expect(areSensitiveKeys([])).toBe(true)
    expect(areSensitiveKeys(['家庭住址', '$1', 'a.*b', 'x'.repeat(length)])).toBe(true)
    expect(areSensitiveKeys(Array.from({ length: keys }, (_, index) => `n${index}`))).toBe(true)
  })

  it.each([
    ['too many', Array.from({ length: keys + 1 }, (_, index) => `n${index}`)],
    ['too long', ['x'.repeat(length + 1)]],
    ['empty', ['salary', '']],
    ['without a letter or a digit', ['_-. ']],
    ['no text', [7]],
    ['no list', 'salary']
  ])('that are %s are refused with the limits', (_what, names) => {
    expect(() => requireSensitiveKeys(names, '--sensitive')).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        kind: 'user',
        message: '--sensitive takes at most 100 names of at most 64 characters, each with a letter or a digit.'
      })
    )
  })
})
