import { AppError, type Clock, type Probe, type ProbeLimit } from '../kernel/index.ts'
import { MinuteBudget, type BudgetLimits } from './minute-budget.ts'
import { PlanBook } from './plan-book.ts'

/** What was refused for its plan or for missing rights is tried again after this: somebody may have helped. */
const refusedForMs = 60_000
/** After the first time limit in a row; twice as long after each further one. */
const timeoutRestMs = { first: 60_000, most: 600_000 } as const
/** Weight of the newest cost in what is usual. */
const newestWeight = 0.3
/** A probe that the budget has had no room for in all this time is thought to cost half: it may have been dear only then. */
const doubtMs = 600_000

interface Rest {
  readonly until: number
  readonly limit: ProbeLimit
  /** Time limits in a row. */
  readonly timeouts: number
}

/** What the guard of one database remembers between rounds. */
export class GuardMemory {
  readonly plans: PlanBook
  private readonly clock: Clock
  private readonly budget: MinuteBudget
  private readonly rests = new Map<string, Rest>()
  private readonly usualMs = new Map<string, number>()
  /** Since when the budget has had no room for them. */
  private readonly leftOut = new Map<string, number>()
  private usualRows = 0
  private isCold = true
  /** The session of the last round, and how many rows it had read at its end. */
  private counted: { readonly session: string; readonly rows: number } | undefined

  constructor(clock: Clock, budget: BudgetLimits) {
    this.clock = clock
    this.plans = new PlanBook(clock)
    this.budget = new MinuteBudget(clock, budget)
  }

  /** What the probe's statements cost in a round (ms); undefined while it is new. */
  usual(name: string): number | undefined {
    return this.usualMs.get(name)
  }

  /** The probes that do not fit into what is left of the minute's budget. */
  unaffordable(): ReadonlySet<string> {
    const held = this.budget.unaffordable(this.usualMs, this.usualRows)
    const now = this.clock.monotonic()
    for (const [name, usual] of this.usualMs) {
      const since = held.has(name) ? (this.leftOut.get(name) ?? now) : undefined
      if (since === undefined) this.leftOut.delete(name)
      else if (now - since < doubtMs) this.leftOut.set(name, since)
      else {
        this.usualMs.set(name, usual / 2)
        this.leftOut.set(name, now)
      }
    }
    return held
  }

  /** Why a probe of this name must not run now. */
  restOf(name: string): ProbeLimit | undefined {
    const rest = this.rests.get(name)
    return rest && this.clock.monotonic() < rest.until ? rest.limit : undefined
  }

  /** What a failed statement means for its probe: it rests. Throws the error when no probe alone is to blame. */
  restAfter({ name, index }: Probe, error: unknown): ProbeLimit {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    const limit: ProbeLimit = { probe: name, reason, index: reason === 'plan' ? index : null }
    const timeouts = reason === 'timeout' ? (this.rests.get(name)?.timeouts ?? 0) + 1 : 0
    const timeoutMs = Math.min(timeoutRestMs.most, timeoutRestMs.first * 2 ** (timeouts - 1))
    const restMs = reason === 'timeout' ? timeoutMs : refusedForMs
    this.rests.set(name, { until: this.clock.monotonic() + restMs, limit, timeouts })
    return limit
  }

  /** It was not the probe's fault. */
  forgive(name: string): void {
    this.rests.delete(name)
  }

  /** A round is over: what its probes cost (ms, by name), and how many rows the server read for them. */
  record(costs: ReadonlyMap<string, number>, rows: number | null): void {
    // The first round reads all plans and wakes what sleeps: it says nothing of the next ones, and must not take the minute from them.
    if (this.isCold) {
      this.isCold = false
      return
    }
    for (const [name, costMs] of costs) {
      this.usualMs.set(name, weighted(this.usualMs.get(name), costMs))
      if (this.restOf(name) === undefined) this.rests.delete(name)
    }
    if (rows !== null) this.usualRows = weighted(this.usualRows, rows)
    const ms = [...costs.values()].reduce((sum, costMs) => sum + costMs, 0)
    this.budget.spend(ms, rows ?? 0)
  }

  /** Of `total` that the session has read so far, what it has read since the last round. Another session began at nothing. */
  rowsSince(session: string, total: number): number {
    const { counted } = this
    this.counted = { session, rows: total }
    return counted?.session === session ? Math.max(0, total - counted.rows) : total
  }
}

const weighted = (usual: number | undefined, newest: number): number =>
  usual === undefined ? newest : usual + newestWeight * (newest - usual)

/** The index that a statement names does not exist: there is no plan at all. */
const unknownIndex = 1176

/** The server ended the statement, and the session lives. A lost answer has no number. */
const endedByServer: ReadonlySet<unknown> = new Set([1317, 1969, 3024])

/** Undefined for what is no matter of one probe: a lost link, a table that stays locked. */
function reasonOf(error: unknown): ProbeLimit['reason'] | undefined {
  if (!(error instanceof AppError)) return undefined
  const { errno } = error.details
  if (errno === unknownIndex) return 'plan'
  if (error.code === 'NO_RIGHTS') return 'rights'
  return error.code === 'STATEMENT_TIMEOUT' && endedByServer.has(errno) ? 'timeout' : undefined
}
