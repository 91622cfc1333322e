import { Cron } from 'croner'
import { AppError, misfireAfterMs, type MisfireRule } from '../kernel/index.ts'

/* When a schedule ticks, by times of the database's clock. */

/** Missed ticks that ALL makes up for; and how many are counted in one round. */
const mostMadeUp = 100
const mostCounted = 10_000

interface Timing {
  readonly cron: string
  readonly timeZone: string
}

/** The first tick after `afterMs`. Throws INVALID_INPUT for a zone or a cron text that is not valid, or has no tick. */
export function firstTick(timing: Timing, afterMs: number): number {
  const tick = cronOf(timing).nextRun(new Date(afterMs))
  if (tick === null) throw invalid(`"${timing.cron}" never comes again: choose days and months that exist.`)
  return tick.getTime()
}

/**
 * Fixed times (no `*` and no step in the fields of the time of day) follow the wall clock: once in an hour that comes twice, right after an
 * hour that is left out. Others go on in real time.
 */
function cronOf({ cron, timeZone }: Timing): Cron {
  if (!isTimeZone(timeZone))
    throw invalid(`"${timeZone}" is no time zone: use an IANA name such as Europe/Berlin or UTC.`)
  const fields = cron.trim().split(/\s+/)
  const isNickname = /^@[a-z]+$/i.test(cron.trim())
  if (!isNickname && fields.length !== 5 && fields.length !== 6)
    throw invalid(
      `"${cron}" has ${fields.length} fields; cron has five (minute hour day month weekday), or six with seconds in front.`
    )
  try {
    return new Cron(cron.trim(), {
      timezone: timeZone,
      mode: '5-or-6-parts',
      fixedTimeRule: 'no-wildcard',
      paused: true
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new AppError('INVALID_INPUT', 'user', `"${cron}" is no cron text: ${reason}`, { cause: error })
  }
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export interface DueTicks {
  /** To be submitted, oldest first. */
  readonly run: readonly number[]
  /** Ticks that came more than a minute late, those in `run` included. At most 10,000 are counted. */
  readonly missed: number
  readonly nextAt: number | null
}

/** Lets others of this event loop run: the renewal of leases must not wait until ten years of seconds are counted. */
export type GiveWay = () => Promise<void>

/** Ticks looked for between two of those, some 2 ms: croner takes about 0.1 ms for one. */
const ticksAtOnce = 25

export interface TickRange {
  /** A tick that has passed; it is the oldest of them. */
  readonly fromMs: number
  readonly nowMs: number
  readonly giveWay: GiveWay
}

/** What to do about a schedule whose tick has passed. */
export async function dueTicks(
  timing: Timing & { readonly misfire: MisfireRule },
  range: TickRange
): Promise<DueTicks> {
  const { fromMs, nowMs } = range
  const cron = cronOf(timing)
  const second = cron.nextRun(new Date(fromMs))
  // Nearly every round: nothing was missed, and there is nothing to look for.
  const isOnly = second === null || second.getTime() > nowMs
  const newest = isOnly ? [fromMs] : await newestTicks(cron, range)
  const counted = newest.length < mostKept ? newest.length : await countTicks(cron, range)
  const onTime = newest.filter((tick) => nowMs - tick <= misfireAfterMs)
  const late = newest.slice(0, newest.length - onTime.length)
  const madeUp = { SKIP: 0, ONCE: 1, ALL: mostMadeUp }[timing.misfire]
  const next = isOnly ? second : cron.nextRun(new Date(nowMs))
  return {
    run: [...(madeUp === 0 ? [] : late.slice(-madeUp)), ...onTime],
    missed: counted - onTime.length,
    nextAt: next?.getTime() ?? null
  }
}

/** On time are at most 61 ticks: one a second, for a minute. */
const mostKept = mostMadeUp + 61

/** At most `mostKept`, oldest first. Looked for backwards: they may be dense and then none for months. */
async function newestTicks(cron: Cron, { fromMs, nowMs, giveWay }: TickRange): Promise<number[]> {
  const found: number[] = []
  // The reference itself is no previous run of croner's.
  for (let before = nowMs + 1; ; await giveWay()) {
    const some = timesOf(cron.previousRuns(ticksAtOnce, new Date(before)))
    found.push(...some.filter((tick) => tick >= fromMs))
    const oldest = some.at(-1)
    if (oldest === undefined || oldest < fromMs || found.length >= mostKept) return found.slice(0, mostKept).reverse()
    before = oldest
  }
}

/** At most `mostCounted`: nobody needs to know how many more there were, and each costs processor time. */
async function countTicks(cron: Cron, { fromMs, nowMs, giveWay }: TickRange): Promise<number> {
  let counted = 0
  for (let after = fromMs - 1; ; await giveWay()) {
    const some = timesOf(cron.nextRuns(ticksAtOnce, new Date(after)))
    const latest = some.at(-1)
    counted += some.filter((tick) => tick <= nowMs).length
    if (counted >= mostCounted) return mostCounted
    if (latest === undefined || latest > nowMs) return counted
    after = latest
  }
}

const timesOf = (dates: readonly Date[]): number[] => dates.map((date) => date.getTime())

const invalid = (message: string): AppError => new AppError('INVALID_INPUT', 'user', message)
