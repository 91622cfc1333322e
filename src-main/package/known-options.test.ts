import { expect, it } from 'vitest'
import { requireKnown, requireOneOf } from './known-options.ts'

it('takes what it knows, or nothing', () => {
  requireKnown({ by: 'ada' }, ['by', 'signal'])
  requireKnown({}, ['by'])
  requireOneOf('action', 'replay', ['replay', 'discard'])
})

it.each([
  [{ By: 'ada' }, /no option "By".* by, signal/],
  [AbortSignal.abort(), /an object with any of by, signal/],
  [null, /an object with any of by, signal/]
])('refuses %o', (options, message) => {
  expect(() => requireKnown(options as object, ['by', 'signal'])).toThrow(message)
})

it.each(['Discard', undefined, null, 7])('refuses the action %j', (action) => {
  expect(() => requireOneOf('action', action, ['replay', 'discard'])).toThrow(/no action .* there are replay, discard/)
})
