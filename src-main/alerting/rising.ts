import type { MetricName } from '../kernel/index.ts'
import { livePace } from './rule-machine.ts'
import { riseWindowMs } from './signals.ts'

/** What `recoveredRise` compares with. */
const metric: MetricName = 'recovered5m'
/** Readings are not taken to the millisecond: the value may be this much older. */
const slackMs = 3 * livePace.slowestMs
/** At the usual tick 200 come in the window and its slack; a faster sampler loses the oldest. */
const mostKept = 1_000

interface Kept {
  readonly at: number
  readonly value: number
}

/** Recent values of the metric whose rise is watched, by type. Begins anew with the app: until then a rise is unknown. */
export class Rising {
  private readonly series = new Map<string, Kept[]>()

  /** Takes the values of these types, and forgets all others. A clock that went back makes what was known useless. */
  add(at: number, values: ReadonlyMap<string, number | undefined>): void {
    for (const type of this.series.keys()) if (!values.has(type)) this.series.delete(type)
    for (const [type, value] of values) {
      const known = this.series.get(type) ?? []
      if ((known.at(-1)?.at ?? at) > at) known.length = 0
      if (value !== undefined) known.push({ at, value })
      const useful = known.findIndex((kept) => kept.at >= at - riseWindowMs - slackMs)
      known.splice(0, Math.max(useful === -1 ? known.length : useful, known.length - mostKept))
      this.series.set(type, known)
    }
  }

  forget(): void {
    this.series.clear()
  }

  /** As it was `riseWindowMs` before `at`, the time of the last `add`, which has dropped what is older. */
  before(wanted: MetricName, type: string, at: number): number | undefined {
    if (wanted !== metric) return undefined
    return this.series.get(type)?.findLast((kept) => kept.at <= at - riseWindowMs)?.value
  }
}
