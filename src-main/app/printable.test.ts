import { expect, it } from 'vitest'
import { printable } from './printable.ts'

it('writes out what would steer a terminal or hide a part of the line', () => {
  expect(printable('a\u001b[2Jb\rc\u0000\u009bd')).toBe('a\\u001b[2Jb\\u000dc\\u0000\\u009bd')
  expect(printable('gnp\u202e.exe\u2066')).toBe('gnp\\u202e.exe\\u2066')
})

it('keeps other text, and sets further lines in', () => {
  expect(printable('Zoë 任务 💥\tx\nfaked info line')).toBe('Zoë 任务 💥\tx\n    faked info line')
})
