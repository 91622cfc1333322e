import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')

/** Sections A to E of the list; its numbers have gaps. */
const numbers = [
  1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27, 29, 30, 31, 32, 34, 35, 37, 38,
  39, 40, 41, 42, 44, 46, 47, 49, 50, 51, 52, 53
] // prettier-ignore

const rows = readFileSync(join(root, 'docs/faults.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, file = '', name = ''] = /^\| (\d+) +\| (\S+) +\| (.+?) +\|$/.exec(line) ?? []
    return number === undefined ? [] : [{ number: Number(number), file, name }]
  })

it('docs/faults.md has each known fault of sections A to E, and no other', () => {
  expect([...new Set(rows.map(({ number }) => number))].sort((a, b) => a - b)).toEqual(numbers)
})

it.each(rows.filter(({ file }) => file !== 'none'))(
  'the test for known fault $number is in $file and has the number in its title',
  ({ number, file, name }) => {
    const path = join(root, file)
    expect(existsSync(path)).toBe(true)
    expect(readFileSync(path, 'utf8')).toContain(`'${name}'`)
    expect(name).toMatch(new RegExp(`FAULTS (\\d+(, | and ))*${number}\\b`))
  }
)

it('a known fault without a test has a reason', () => {
  for (const { name } of rows.filter(({ file }) => file === 'none')) expect(name.length).toBeGreaterThan(40)
})
