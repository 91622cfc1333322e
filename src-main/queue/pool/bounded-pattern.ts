import { createContext, Script, type Context } from 'node:vm'

/** Of wall time: a pattern that needs longer for one message may well never end. */
const longestMatchMs = 1_000

const match = new Script('pattern.test(message)')
let place: Context | undefined

/**
 * A regular expression of a user. No look at its text tells all those that try for ever on a message that nearly fits, and whoever runs one
 * cannot be interrupted but from outside: so it gets a limit of time.
 */
export class BoundedPattern {
  private readonly pattern: RegExp

  /** Throws a SyntaxError for what is no regular expression. */
  constructor(source: string) {
    this.pattern = new RegExp(source, 'u')
  }

  /** Whether it is found in the message; false when that takes too long. Never throws. */
  isIn(message: string): boolean {
    place ??= createContext(Object.create(null) as Context)
    Object.assign(place, { pattern: this.pattern, message })
    try {
      return match.runInContext(place, { timeout: longestMatchMs }) === true
    } catch {
      return false
    }
  }
}
