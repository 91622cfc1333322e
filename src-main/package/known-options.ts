import { AppError } from '../kernel/index.ts'

/** A name that is misspelt would be left out in silence where no compiler looks. Throws INVALID_INPUT. */
export function requireKnown(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const message = `There is no option "${unknown}": the options are ${names.join(', ')}.`
  throw new AppError('INVALID_INPUT', 'user', message)
}
