import type { Percentiles } from '../../kernel/index.ts'
import { percentilesOf } from '../reading-figures.ts'

const size = 512

/** Percentiles over the newest 512 measurements, milliseconds. */
export class LatencyWindow {
  private readonly values: number[] = []
  private next = 0

  add(ms: number): void {
    this.values[this.next] = ms
    this.next = (this.next + 1) % size
  }

  /** null before the first measurement. */
  percentiles(): Percentiles | null {
    return percentilesOf(this.values)
  }
}
