import type { Clock } from '../../kernel/index.ts'

/** One for all: a reason made for each call was a good part of the worker's own time. */
const wokenUp = new Error('woken up')

/** A pause of a loop that can be cut short. A wake that comes before the pause makes the next pause end at once. */
export class Wakeup {
  private readonly clock: Clock
  private pause: AbortController | undefined
  private pending = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  wake(): void {
    this.pending = true
    this.pause?.abort(wokenUp)
  }

  /** True when it was woken, false when the time is over. */
  async wait(ms: number): Promise<boolean> {
    if (!this.pending) {
      this.pause = new AbortController()
      await this.clock.sleep(ms, this.pause.signal).catch(() => undefined)
      this.pause = undefined
    }
    const woken = this.pending
    this.pending = false
    return woken
  }
}
