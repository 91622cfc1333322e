/** How often a database is read. */
export interface PaceLimits {
  /** Between the starts of two readings when they are cheap. */
  readonly everyMs: number
  /** However dear readings are: the picture must not be older. */
  readonly slowestMs: number
}

/** What one reading cost. */
export interface ReadingCost {
  readonly costMs: number
  readonly costRows: number | null
  /** The server answered far slower than usual, and dear probes were left out. */
  readonly isServerSlow: boolean
}

/** Share of wall time that the database may spend on readings. */
const costShare = 0.01
/** Rows that the server may read for them in a second, whatever they cost here: pages that it has to fetch cost others. */
const rowsPerSecond = 50_000
/** A single reading that was far dearer than the others gets this share at once, before the median knows of it. */
const suddenShare = 0.1
const costsKept = 5
/** Fewer say little: the first reading also opens connections and fills caches. */
const costsNeeded = 3

/**
 * Stretches the interval so that the median of the last costs stays below 1 % of it, up to `slowestMs`; and doubles it with each reading in a
 * row that found the server slow.
 */
export class Pace {
  private readonly limits: PaceLimits
  private readonly costs: ReadingCost[] = []
  private slowInRow = 0

  constructor(limits: PaceLimits) {
    this.limits = limits
  }

  record(cost: ReadingCost): void {
    this.costs.push(cost)
    if (this.costs.length > costsKept) this.costs.shift()
    this.slowInRow = cost.isServerSlow ? this.slowInRow + 1 : 0
  }

  get intervalMs(): number {
    const { everyMs, slowestMs } = this.limits
    const costlyMs = this.costs.length < costsNeeded ? 0 : Math.max(this.usualMs(), this.suddenMs())
    const patientMs = Math.max(everyMs, costlyMs) * 2 ** Math.min(this.slowInRow, 10)
    return Math.min(slowestMs, Math.ceil(patientMs))
  }

  private usualMs(): number {
    const rows = this.costs.map(({ costRows }) => costRows ?? 0)
    return Math.max(median(this.costs.map(({ costMs }) => costMs)) / costShare, (median(rows) / rowsPerSecond) * 1_000)
  }

  private suddenMs(): number {
    return (this.costs.at(-1)?.costMs ?? 0) / suddenShare
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** 1, 2, 4 ... 30 s after the first, second ... failure in a row, less up to a fifth so that many clients spread out. */
export function backOffMs(failures: number, random: number): number {
  const full = Math.min(30_000, 1_000 * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (1 - 0.2 * random))
}
