import type { Clock } from '../../kernel/index.ts'

/** A loop's pause that can be cut short. A wake that comes before the pause makes the next pause end at once. */
export class Wakeup {
  private readonly clock: Clock
  private pause: AbortController | undefined
  private pending = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  wake(): void {
    this.pending = true
    this.pause?.abort()
  }

  async wait(ms: number): Promise<void> {
    if (!this.pending) {
      this.pause = new AbortController()
      await this.clock.sleep(ms, this.pause.signal).catch(() => undefined)
      this.pause = undefined
    }
    this.pending = false
  }
}
