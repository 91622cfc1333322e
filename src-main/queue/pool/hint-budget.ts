import type { Clock } from '../../kernel/index.ts'

/** Hints that are followed at once, and how many a second after that. */
const burst = 10
const perSecond = 20

/** How often hints may make a worker poll, whoever sends them and however many. */
export class HintBudget {
  private readonly clock: Clock
  private tokens = burst
  private countedAt: number

  constructor(clock: Clock) {
    this.clock = clock
    this.countedAt = clock.monotonic()
  }

  /** Whole milliseconds until a hint may be followed; 0 for now. */
  waitMs(): number {
    this.count()
    return this.tokens >= 1 ? 0 : Math.ceil(((1 - this.tokens) * 1_000) / perSecond)
  }

  take(): void {
    this.count()
    this.tokens -= 1
  }

  private count(): void {
    const now = this.clock.monotonic()
    this.tokens = Math.min(burst, this.tokens + ((now - this.countedAt) * perSecond) / 1_000)
    this.countedAt = now
  }
}
