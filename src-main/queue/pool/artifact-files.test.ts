import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { artifactPath, freeFileName, safeFileName } from './artifact-files.ts'

describe('safeFileName', () => {
  it.each([
    ['report.csv', 'report.csv'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['..', 'file'],
    ['', 'file'],
    ['a\0b\nc.txt', 'a_b_c.txt'],
    ['con.txt', '_con.txt'],
    ['报告.csv', '报告.csv'],
    ['dots...', 'dots'],
    ['\uD800x', '\uFFFDx']
  ])('makes %j to %j', (name, safe) => expect(safeFileName(name)).toBe(safe))

  it('shortens a long name', () => expect(safeFileName('x'.repeat(1000)).length).toBeLessThanOrEqual(80))

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
