/** How often a database is read. */
export interface PaceLimits {
  /** Between the starts of two readings when they are cheap. */
  readonly everyMs: number
  /** However dear readings are: the picture must not be older. */
  readonly slowestMs: number
}

/** Share of wall time that the database may spend on readings. */
const costShare = 0.01
const costsKept = 5
/** Fewer say little: the first reading also opens connections and fills caches. */
const costsNeeded = 3

/** Stretches the interval so that the median of the last costs stays below 1 % of it, up to `slowestMs`. */
export class Pace {
  private readonly limits: PaceLimits
  private readonly costs: number[] = []

  constructor(limits: PaceLimits) {
    this.limits = limits
  }

  record(costMs: number): void {
    this.costs.push(costMs)
    if (this.costs.length > costsKept) this.costs.shift()
  }

  get intervalMs(): number {
    const { everyMs, slowestMs } = this.limits
    if (this.costs.length < costsNeeded) return everyMs
    const median = [...this.costs].sort((a, b) => a - b)[Math.floor(this.costs.length / 2)] ?? 0
    return Math.max(everyMs, Math.min(slowestMs, Math.ceil(median / costShare)))
  }
}

/** 1, 2, 4 ... 30 s after the first, second ... failure in a row, less up to a fifth so that many clients spread out. */
export function backOffMs(failures: number, random: number): number {
  const full = Math.min(30_000, 1_000 * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (1 - 0.2 * random))
}
