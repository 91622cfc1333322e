import type { Clock } from '../../kernel/index.ts'

/** Of one look: types are found one by one, and on a slow link hundreds would take longer than the look may. */
const mostMs = 5_000

/** The time that one look has to find types in. */
export class SearchTime {
  private readonly clock: Clock
  private readonly until: number

  constructor(clock: Clock) {
    this.clock = clock
    this.until = clock.monotonic() + mostMs
  }

  get isOver(): boolean {
    return this.clock.monotonic() >= this.until
  }
}
