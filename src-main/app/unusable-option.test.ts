import { parseArgs } from 'node:util'
import { expect, it } from 'vitest'
import { unusableOption } from './unusable-option.ts'

const saidOf = (...args: string[]): string => {
  try {
    parseArgs({ args, options: { json: { type: 'boolean' }, wait: { type: 'string' } } })
  } catch (error) {
    return unusableOption(error).message
  }
  return ''
}

it.each([
  [['--jsonx'], 'There is no option --jsonx; see --help.'],
  [['--json=1'], /^The option --json lacks its value, or has one/],
  [['--wait'], /^The option --wait lacks its value/],
  [['mysql://u:secret@h/d'], /^Every argument must be an option\.$/]
])('says of %j what is wrong with it', (args, said) => expect(saidOf(...args)).toMatch(said))
