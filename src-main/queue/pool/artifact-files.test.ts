import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { safeFileName } from '../../kernel/index.ts'
import { artifactPath, freeFileName } from './artifact-files.ts'

describe('artifactPath', () => {
  it('never leaves the folder of the attempt', () => {
    for (const name of ['..', '../..', '/etc', 'a/../../b', '..\\..\\x']) {
      const path = artifactPath('/data', '7', 2, safeFileName(name))
      expect(path.startsWith(join('/data', '7', '2') + '/')).toBe(true)
    }
  })
})

describe('freeFileName', () => {
  it.each([
    ['a.csv', [], 'a.csv'],
    ['a.csv', ['a.csv'], 'a (2).csv'],
    ['A.csv', ['a.csv'], 'A (2).csv'],
    ['a.csv', ['a.csv', 'a (2).csv'], 'a (3).csv'],
    ['file', ['file'], 'file (2)']
  ])('makes %j beside %j to %j', (name, taken, free) => expect(freeFileName(name, new Set(taken))).toBe(free))
})
