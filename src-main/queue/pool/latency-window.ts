/** Percentiles over the newest 512 measurements, milliseconds. */
export class LatencyWindow {
  private readonly values: number[] = []
  private next = 0

  add(ms: number): void {
    this.values[this.next] = ms
    this.next = (this.next + 1) % 512
  }

  /** null before the first measurement. */
  percentiles(): { p50: number; p95: number; p99: number } | null {
    if (this.values.length === 0) return null
    const sorted = this.values.toSorted((a, b) => a - b)
    const at = (fraction: number): number => sorted[Math.ceil(fraction * sorted.length) - 1] ?? 0
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }
}
