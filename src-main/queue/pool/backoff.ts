import type { Clock } from '../../kernel/index.ts'

/** Growing delays with jitter, so that workers that failed together do not come back together. */
export class Backoff {
  private readonly clock: Clock
  private readonly firstMs: number
  private readonly capMs: number
  private failures = 0

  constructor(clock: Clock, { firstMs, capMs }: { firstMs: number; capMs: number }) {
    this.clock = clock
    this.firstMs = firstMs
    this.capMs = capMs
  }

  /** Half of the doubled delay is fixed, half is chance. Milliseconds. */
  next(): number {
    const full = Math.min(this.capMs, this.firstMs * 2 ** Math.min(this.failures++, 20))
    return full / 2 + (full / 2) * this.clock.random()
  }

  reset(): void {
    this.failures = 0
  }
}
