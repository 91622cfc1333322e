/** What stands for all values beyond the bound. */
export const otherLabel = 'other'

/**
 * The values that a label may have: the first `most` different ones; what comes later counts as `other`. Types and error codes are
 * chosen by programs outside, and a series for each value of a careless one would fill the memory here and in Prometheus.
 */
export class BoundedLabels {
  private readonly most: number
  private readonly known = new Set<string>()

  constructor(most: number) {
    this.most = most
  }

  of(value: string): string {
    if (this.known.has(value)) return value
    if (this.known.size >= this.most) return otherLabel
    this.known.add(value)
    return value
  }
}
