import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { userName } from '../app/user-name.ts'
import { actorOf } from './actor.ts'

it('is who the caller names, without spaces around', () => expect(actorOf({ by: ' ada ' })).toBe('ada'))

it('is the user at this host when nobody is named', () => expect(actorOf({})).toBe(`${userName()}@${hostname()}`))

it.each([' ', 'a'.repeat(129), 7 as unknown as string])('is not %j', (by) => {
  expect(() => actorOf({ by })).toThrow(/"by" is a name of 1 to 128 characters/)
})
