/** Running mean of how long each type's handler takes. */
export class TypeDurations {
  private readonly means = new Map<string, number>()

  add(type: string, ms: number): void {
    const mean = this.means.get(type)
    this.means.set(type, mean === undefined ? ms : mean * 0.8 + ms * 0.2)
  }

  /** Infinite for a type that never ended yet. */
  meanMs(type: string): number {
    return this.means.get(type) ?? Infinity
  }
}
