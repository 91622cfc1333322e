import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { expect, it } from 'vitest'
import { userName } from './user-name.ts'

/** As another user, when this one may become it. */
const nameAs = (uid: number): string => {
  const script = `process.setuid?.(${uid}); const { userName } = await import('./user-name.ts'); console.log(userName())`
  const options = { cwd: import.meta.dirname, encoding: 'utf8', timeout: 20_000 } as const
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], options).stdout.trim()
}

it('is the name of the user', () => expect(userName()).toBe(userInfo().username))

// Only root may become somebody without a name.
it.runIf(process.getuid?.() === 0)('is the number of a user without a name', () => {
  expect(nameAs(54_321)).toBe('uid-54321')
})
