import { userInfo } from 'node:os'
import { expect, it } from 'vitest'
import { userName } from './user-name.ts'

it('is the name of the user', () => expect(userName()).toBe(userInfo().username))

it('is the number of a user without a name', () => {
  const nameless = (): never => {
    throw new Error('uv_os_get_passwd returned ENOENT')
  }
  expect(userName(nameless)).toMatch(/^uid-\d+$/)
})
