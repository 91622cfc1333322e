import {
  AppError,
  explain,
  type Clock,
  type Probe,
  type ProbeCost,
  type ProbeLimit,
  type ProbeRound,
  type SqlDatabase,
  type SqlRow,
  type SqlValue
} from '../kernel/index.ts'
import type { GuardMemory } from './guard-memory.ts'
import type { RunStatement } from './plan-book.ts'
import { expectedRowsOf } from './query-plan.ts'
import { beginning, rowsRead, serverLoadOf, sessionStatus } from './server-status.ts'

/** A statement that does nothing keeps a server busy for less; what a quick one of a round took beyond is the network's. */
const idleStatementMs = 1
/** A server is slow when so many probes of a round each took this much more than usual, and this many times as long: one alone may be a hiccup. */
const slow = { probes: 2, beyondMs: 100, times: 5 } as const
/** Then only probes run that usually cost less than this. */
const cheapMs = 2
/** So many that ran into their time limit in one round are the server's fault, not the probes'. */
const mostTimeouts = 2

/** The round's own statements. */
const frame = 'round'
const serverProbe: Probe = { name: 'server', sql: sessionStatus, tables: [], index: null }

export interface RoundOptions {
  readonly database: SqlDatabase
  readonly clock: Clock
  readonly memory: GuardMemory
  readonly signal: AbortSignal | undefined
}

/** Throws what the database throws when it cannot be asked at all. */
export async function beginRound(options: RoundOptions): Promise<ProbeRound> {
  const { database, clock, signal } = options
  const began = clock.monotonic()
  const [row] = (await database.execute(beginning, [], { signal }).catch(unanswered)).rows
  return new GuardedRound(options, row ?? {}, clock.monotonic() - began)
}

/** The session is the guard's alone: when it is not free, the server has not answered what was asked before. */
function unanswered(cause: unknown): never {
  if (!(cause instanceof AppError) || cause.code !== 'POOL_EXHAUSTED') throw cause
  throw new AppError('STATEMENT_TIMEOUT', 'operational', 'The database has not answered the last statement yet.', {
    cause
  })
}

/** The round of one reading. Statements follow each other: callers wait for each. */
class GuardedRound implements ProbeRound {
  readonly now: string
  private readonly options: RoundOptions
  private readonly memory: GuardMemory
  private readonly session: string
  private readonly mostSessions: number
  private readonly unaffordable: ReadonlySet<string>
  private readonly limits = new Map<string, ProbeLimit>()
  private readonly timedOut: string[] = []
  /** The link's share still in. */
  private readonly statements: { readonly name: string; readonly ms: number }[] = []

  constructor(options: RoundOptions, first: SqlRow, firstMs: number) {
    this.options = options
    this.memory = options.memory
    this.unaffordable = options.memory.unaffordable()
    this.now = String(first['now'])
    this.session = String(first['session'])
    this.mostSessions = Number(first['most_sessions'])
    this.statements.push({ name: frame, ms: firstMs })
  }

  rows(probe: Probe, values: readonly SqlValue[] = []): Promise<readonly SqlRow[] | undefined> {
    return this.guarded(probe, async (run) => {
      if (await this.memory.plans.allows(probe, values, run)) return run(probe.sql, values)
      this.cut({ probe: probe.name, reason: 'plan', index: probe.index })
      return undefined
    })
  }

  expectedRows(probe: Probe, values: readonly SqlValue[] = []): Promise<readonly number[] | undefined> {
    return this.guarded(probe, async (run) => expectedRowsOf(await run(explain(probe.sql), values)))
  }

  cut(limit: ProbeLimit): void {
    if (!this.limits.has(limit.probe)) this.limits.set(limit.probe, limit)
  }

  async end(): Promise<ProbeCost> {
    const status = await this.guarded(serverProbe, (run) => run(sessionStatus, []))
    const costs = this.costs()
    const costRows = status ? this.memory.rowsSince(this.session, rowsRead(status)) : null
    this.memory.record(costs, costRows)
    return {
      costMs: [...costs.values()].reduce((sum, ms) => sum + ms, 0),
      costRows,
      server: status ? serverLoadOf(status, this.mostSessions) : null,
      limits: [...this.limits.values()]
    }
  }

  private async guarded<T>(probe: Probe, work: (run: RunStatement) => Promise<T>): Promise<T | undefined> {
    const { name } = probe
    const held = this.limits.get(name) ?? this.memory.restOf(name) ?? this.holdBack(name)
    if (held) {
      this.cut(held)
      return undefined
    }
    try {
      return await work((sql, values) => this.run(name, sql, values))
    } catch (error) {
      const limit = this.memory.restAfter(probe, error)
      if (limit.reason === 'timeout') this.noteTimeout(name, error)
      this.cut(limit)
      return undefined
    }
  }

  /** Throws when there were too many. */
  private noteTimeout(name: string, error: unknown): void {
    this.timedOut.push(name)
    if (this.timedOut.length < mostTimeouts) return
    for (const timedOut of this.timedOut) this.memory.forgive(timedOut)
    throw error
  }

  private holdBack(name: string): ProbeLimit | undefined {
    if (name === serverProbe.name) return undefined // it is what the others are measured by
    if (this.unaffordable.has(name)) return { probe: name, reason: 'budget', index: null }
    const isDear = (this.memory.usual(name) ?? 0) > cheapMs
    return isDear && this.isSlow() ? { probe: name, reason: 'slow', index: null } : undefined
  }

  /** By the probes that have run, against what they usually cost. */
  private isSlow(): boolean {
    const slowed = [...this.costs()].filter(([name, ms]) => {
      const usual = this.memory.usual(name)
      return usual !== undefined && ms > usual * slow.times && ms > usual + slow.beyondMs
    })
    return slowed.length >= slow.probes
  }

  /** Milliseconds of the server, by probe: without what each statement spent on the way. */
  private costs(): Map<string, number> {
    // A quarter of them is quicker: the very quickest of hundreds is far below what the network usually takes.
    const quick = this.statements.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(this.statements.length / 4)] ?? 0
    const linkMs = Math.max(0, quick - idleStatementMs)
    const costs = new Map<string, number>()
    for (const { name, ms } of this.statements) costs.set(name, (costs.get(name) ?? 0) + Math.max(0, ms - linkMs))
    return costs
  }

  private async run(name: string, sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    const { clock, database, signal } = this.options
    const began = clock.monotonic()
    try {
      return (await database.execute(sql, values, { signal })).rows
    } finally {
      this.statements.push({ name, ms: clock.monotonic() - began })
    }
  }
}
