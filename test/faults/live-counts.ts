import type { Limits, WitnessEvent } from './evidence.ts'

/** How many leases are live, claims recent and tasks unfinished, by what limits them. */
export class LiveCounts {
  /** Of each limit: the most that there ever was. One that was never reached has proved nothing. */
  readonly most = new Map<string, number>()
  private readonly limits: Limits
  private readonly counts = new Map<string, number>()
  /** Of types with a rate: when the claims of the last period were. */
  private readonly claims = new Map<string, number[]>()

  constructor(limits: Limits) {
    this.limits = limits
  }

  /** What is over its limit with this claim. */
  add(event: WitnessEvent): string[] {
    const { type, owner } = event
    return [
      ...this.over('the queue', this.limits.queue),
      ...this.over(`type ${type}`, this.limits.types?.[type]),
      ...this.over(`owner ${owner}`, this.limits.owners?.[owner]),
      ...this.overRate(event)
    ]
  }

  /** What is over its quota now. */
  submit({ type }: WitnessEvent): string[] {
    return this.over(`unfinished ${type}`, this.limits.unfinished?.[type])
  }

  finish({ type }: WitnessEvent): void {
    this.change(`unfinished ${type}`, -1)
  }

  /** An operator's retry may go past a quota; the next submission may not. */
  reopen({ type }: WitnessEvent): void {
    this.change(`unfinished ${type}`, 1)
  }

  remove({ type, owner }: WitnessEvent): void {
    for (const key of ['the queue', `type ${type}`, `owner ${owner}`]) this.change(key, -1)
  }

  /** In any window of the period: it is enough to look at those that end with a claim. */
  private overRate({ type, atMs }: WitnessEvent): string[] {
    const rate = this.limits.rates?.[type]
    if (!rate) return []
    const recent = (this.claims.get(type) ?? []).filter((at) => at > atMs - rate.periodMs)
    this.claims.set(type, [...recent, atMs])
    return this.compare(`claims of ${type} in ${rate.periodMs} ms`, recent.length + 1, rate.count)
  }

  private over(key: string, limit: number | undefined): string[] {
    return this.compare(key, this.change(key, 1), limit)
  }

  private compare(key: string, count: number, limit: number | undefined): string[] {
    if (limit === undefined) return []
    this.most.set(key, Math.max(count, this.most.get(key) ?? 0))
    return count > limit ? [`${key}: ${count}, limit ${limit}`] : []
  }

  private change(key: string, by: number): number {
    const count = (this.counts.get(key) ?? 0) + by
    this.counts.set(key, count)
    return count
  }
}
