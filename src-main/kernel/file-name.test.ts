import { describe, expect, it } from 'vitest'
import { fileNameBytes, safeFileName } from './file-name.ts'

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
    ['\uD800x', '\uFFFDx'],
    ['../../a\u202e\n/b:c.csv', '_.._a___b_c.csv']
  ])('makes %j to %j', (name, safe) => expect(safeFileName(name)).toBe(safe))

  it.each(['x', '报', '😀'])('shortens a long name of %s to what file systems and columns hold', (character) => {
    const name = safeFileName(character.repeat(1_000))
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(fileNameBytes)
    expect(Buffer.byteLength(name)).toBeGreaterThan(fileNameBytes - 4)
    expect(name).toBe(name.toWellFormed())
  })

  it('leaves a safe name as it is', () => {
    for (const name of ['con', '😀'.repeat(300), '..x..', `_${'a'.repeat(198)} b`]) {
      expect(safeFileName(safeFileName(name))).toBe(safeFileName(name))
    }
  })
})
