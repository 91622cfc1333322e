import type { Clock } from '../../kernel/index.ts'

const windowMs = 10_000
/** Nudges in vain, a second: more than a user interface causes, whatever the pause is. */
const mostInVain = 10

/**
 * Whether a worker polls faster than it is configured to. Its own pauses keep to the configuration; who nudges it
 * ("work was just submitted") without there being work does not, and its database pays for that.
 */
export class PollWatch {
  private readonly clock: Clock
  private readonly pollMs: number
  private since: number
  private inVain = 0
  private perSecond = 0

  constructor(clock: Clock, pollMs: number) {
    this.clock = clock
    this.pollMs = pollMs
    this.since = clock.monotonic()
  }

  /** A poll that came before its time and found nothing. */
  note(): void {
    this.turn()
    this.inVain++
  }

  /** Text for the worker's row; null while all is well. */
  fault(): string | null {
    this.turn()
    const allowed = Math.max(mostInVain, 1_000 / this.pollMs)
    if (this.perSecond <= allowed) return null
    const rate = this.perSecond.toFixed(1)
    return `It polls ${rate} times a second beyond its pause of ${this.pollMs} ms and finds nothing: something nudges it without submitting.`
  }

  private turn(): void {
    const now = this.clock.monotonic()
    const elapsed = now - this.since
    if (elapsed < windowMs) return
    this.perSecond = (this.inVain * 1_000) / elapsed
    this.inVain = 0
    this.since = now
  }
}
