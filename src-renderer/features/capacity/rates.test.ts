import { expect, it } from 'vitest'
import { factor, rate, wait } from './rates.ts'

it.each([
  [null, '–'],
  [0, '0 /min'],
  [0.005, '0.3 /min'],
  [0.4, '24 /min'],
  [1, '1 /s'],
  [18.123, '18.1 /s'],
  [40_000, '40,000 /s'],
  [Infinity, '∞']
])('a rate of %s reads %s', (perSecond, text) => expect(rate(perSecond)).toBe(text.replace(' ', '\u2009')))

it('a wait without an end says so', () => {
  expect(wait(Infinity)).toBe('∞')
  expect(wait(null)).toBe('–')
})

it('a factor has no more digits than it needs', () => {
  expect([factor(1.04, 2), factor(20), factor(123.4), factor(null)]).toEqual(['1.04', '20', '123', '–'])
})
