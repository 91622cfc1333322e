import { z } from 'zod'
import type { Policy } from '../kernel/index.ts'

type Rate = NonNullable<Policy['rate']>

/** Claims of one type that count against its rate, and when. Times are microseconds since the epoch by the database's clock. */
export interface Taking {
  readonly at: number
  readonly count: number
}

/** Takings within one such part of the period are remembered as one, at the time of the latest: a gate stays small, and errs on the safe side. */
const partsOfPeriod = 32

/**
 * How many may be claimed now, so that in no window of the period, wherever it begins, more than `count` begin. A bucket that refills
 * at the rate's pace would let twice as many through in the period after a burst; here each token comes back a period after it was taken.
 */
export function roomInRate(takings: readonly Taking[], now: number, rate: Rate): number {
  const taken = withinPeriod(takings, now, rate).reduce((sum, taking) => sum + taking.count, 0)
  return Math.max(0, rate.count - taken)
}

/** What of them still counts, those of one part of the period put together. Oldest first. */
export function withinPeriod(takings: readonly Taking[], now: number, { periodMs }: Rate): Taking[] {
  const periodUs = periodMs * 1000
  const part = (at: number): number => Math.floor(at / (periodUs / partsOfPeriod))
  const kept: Taking[] = []
  for (const { at: given, count } of takings) {
    // A clock that was set back must not keep tokens for longer than a period.
    const at = Math.min(given, now)
    if (count <= 0 || at <= now - periodUs) continue
    const last = kept.at(-1)
    if (last && part(last.at) === part(at)) kept[kept.length - 1] = { at, count: last.count + count }
    else kept.push({ at, count })
  }
  return kept
}

const storedTakings = z.array(z.tuple([z.number(), z.number()])).max(1_000)

/** For the gate's column; at most some 900 characters. */
export const takingsText = (takings: readonly Taking[]): string =>
  JSON.stringify(takings.map(({ at, count }) => [at, count]))

/** What someone else wrote there and is no list counts as nothing taken. */
export function takingsOf(text: string | null): Taking[] {
  if (text === null) return []
  try {
    const parsed = storedTakings.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data.map(([at, count]) => ({ at, count })) : []
  } catch {
    return []
  }
}
