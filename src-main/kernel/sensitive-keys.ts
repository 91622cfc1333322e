import { AppError } from './app-error.ts'

/** Of the names that a user adds to the built-in ones; a length is in UTF-16 units. */
export const sensitiveKeyLimits = { keys: 100, length: 64 } as const

const rule = `at most ${sensitiveKeyLimits.keys} names of at most ${sensitiveKeyLimits.length} characters, each with a letter or a digit`

/** A name as names are compared: `apikey` for `API-Key` and `api_key` too. */
export const comparableName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]/g, '')

/** Whether all of these may be added. One without a letter or a digit would be found nowhere, or everywhere. */
export const areSensitiveKeys = (names: readonly string[]): boolean =>
  names.length <= sensitiveKeyLimits.keys &&
  names.every((name) => name.length <= sensitiveKeyLimits.length && /[\p{L}\p{N}]/u.test(name))

/** These names, which may come from anywhere. Throws INVALID_INPUT; `option` is what the user gave them as. */
export function requireSensitiveKeys(names: unknown, option: string): readonly string[] {
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  if (isList && areSensitiveKeys(names)) return [...names]
  throw new AppError('INVALID_INPUT', 'user', `${option} takes ${rule}.`)
}
