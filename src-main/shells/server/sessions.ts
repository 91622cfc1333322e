import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../kernel/index.ts'

export type ExchangeRefusal = 'TOKEN_USED' | 'TOKEN_UNKNOWN' | 'TOO_MANY_TRIES'
export type Exchange = { readonly session: string } | { readonly refused: ExchangeRefusal }

const secretBytes = 32
const wrongTriesPerMinute = 20
const minuteMs = 60_000
const maxSessions = 64

/**
 * Who may use this run. A token (in the address that the terminal shows) buys exactly one session; a session lasts as
 * long as the process. Only digests are kept, and they are compared in constant time.
 */
export class Sessions {
  private readonly clock: Clock
  private open: Buffer | undefined
  private readonly used: Buffer[] = []
  private readonly sessions: Buffer[] = []
  private wrongTries: number[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** A new one-time token; an earlier one that nobody used stops working. */
  issueToken(): string {
    const token = newSecret()
    this.open = digest(token)
    return token
  }

  exchange(token: string): Exchange {
    const given = digest(token)
    if (this.open && timingSafeEqual(given, this.open)) {
      keep(this.used, this.open)
      this.open = undefined
      const session = newSecret()
      keep(this.sessions, digest(session))
      return { session }
    }
    // The right token is never refused by this limit: otherwise any local process could lock its user out.
    if (this.tooManyTries()) return { refused: 'TOO_MANY_TRIES' }
    return { refused: includes(this.used, given) ? 'TOKEN_USED' : 'TOKEN_UNKNOWN' }
  }

  isKnown(session: string): boolean {
    return includes(this.sessions, digest(session))
  }

  private tooManyTries(): boolean {
    const now = this.clock.monotonic()
    this.wrongTries = this.wrongTries.filter((at) => now - at < minuteMs)
    if (this.wrongTries.length >= wrongTriesPerMinute) return true
    this.wrongTries.push(now)
    return false
  }
}

const newSecret = (): string => randomBytes(secretBytes).toString('base64url')
const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest()

function keep(list: Buffer[], entry: Buffer): void {
  list.push(entry)
  if (list.length > maxSessions) list.shift()
}

/** Looks at every entry, so that the time does not tell which one matched. */
function includes(list: readonly Buffer[], entry: Buffer): boolean {
  let found = false
  for (const one of list) found = timingSafeEqual(one, entry) || found
  return found
}
