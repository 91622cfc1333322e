import { AppError } from '../kernel/index.ts'

/** A name that is misspelt would be left out in silence where no compiler looks. Throws INVALID_INPUT. */
export function requireKnown(options: object, names: readonly string[]): void {
  // What is no plain object has no names that could be found unknown: null, or a signal instead of { signal }.
  if ((options as unknown) === null || Object.getPrototypeOf(options) !== Object.prototype)
    throw new AppError('INVALID_INPUT', 'user', `Options are an object with any of ${names.join(', ')}.`)
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const message = `There is no option "${unknown}": the options are ${names.join(', ')}.`
  throw new AppError('INVALID_INPUT', 'user', message)
}

/** Not every caller has a compiler. Throws INVALID_INPUT. */
export function requireOneOf(what: string, value: unknown, known: readonly string[]): void {
  if (known.includes(value as string)) return
  const message = `There is no ${what} ${JSON.stringify(value)}: there are ${known.join(', ')}.`
  throw new AppError('INVALID_INPUT', 'user', message)
}
