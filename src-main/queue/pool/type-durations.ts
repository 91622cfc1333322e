/** Of a task, at most this many times the mean so far and a millisecond count: on a busy machine some quick ones seem to take as long as others were let run. */
const mostGrowth = 2

/** Running mean of how long each type's handler takes. */
export class TypeDurations {
  private readonly means = new Map<string, number>()

  add(type: string, ms: number): void {
    const mean = this.means.get(type)
    this.means.set(type, mean === undefined ? ms : mean * 0.8 + Math.min(ms, mean * mostGrowth + 1) * 0.2)
  }

  /** Infinite for a type that never ended yet. */
  meanMs(type: string): number {
    return this.means.get(type) ?? Infinity
  }
}
