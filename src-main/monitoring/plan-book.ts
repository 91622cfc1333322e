import { explain, type Clock, type Probe, type SqlRow, type SqlValue } from '../kernel/index.ts'
import { isCheapPlan } from './query-plan.ts'

export type RunStatement = (sql: string, values: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** A plan is read again when a table of the probe has grown by this. */
const growth = 10
/** Growth below this does not matter: a small table may be read whole. */
const smallestRows = 2_000
/** How old the known sizes of tables may be. They are estimates of the server's, and cheap. */
const sizesForMs = 60_000
/** A refused plan is read again after this: somebody may have made the index. */
const refusedForMs = 60_000
/** A good one after this: indexes go, and what a condition finds may grow while its table does not. */
const cheapForMs = 300_000

interface Verdict {
  readonly isCheap: boolean
  readonly rows: number
  readonly at: number
}

/** What is known of the plans of probes on one database. */
export class PlanBook {
  private readonly clock: Clock
  private readonly verdicts = new Map<string, Verdict>()
  private readonly sizes = new Map<string, number>()
  private sizesAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Whether the probe may run. Reads its plan when it is new, is a while old, or was read for far fewer rows. Throws what `run` throws. */
  async allows(probe: Probe, values: readonly SqlValue[], run: RunStatement): Promise<boolean> {
    if (probe.tables.length === 0) return true
    const rows = await this.rowsOf(probe.tables, run)
    const now = this.clock.monotonic()
    const known = this.verdicts.get(probe.sql)
    if (known && this.isInForce(known, { rows, now })) return known.isCheap
    const isCheap = isCheapPlan(await run(explain(probe.sql), values), {
      tableRows: rows,
      readsIndexOnly: probe.readsIndexOnly,
      readsPastLimit: probe.readsPastLimit
    })
    this.verdicts.set(probe.sql, { isCheap, rows, at: now })
    return isCheap
  }

  private isInForce({ isCheap, rows: before, at }: Verdict, { rows, now }: { rows: number; now: number }): boolean {
    if (!isCheap) return now - at < refusedForMs
    return now - at < cheapForMs && rows < Math.max(smallestRows, before) * growth
  }

  /** The largest of these tables; 0 while nothing is known. */
  private async rowsOf(tables: readonly string[], run: RunStatement): Promise<number> {
    for (const table of tables) if (!this.sizes.has(table)) this.sizes.set(table, 0)
    if (this.clock.monotonic() - this.sizesAt >= sizesForMs) await this.readSizes(run)
    return Math.max(...tables.map((table) => this.sizes.get(table) ?? 0))
  }

  private async readSizes(run: RunStatement): Promise<void> {
    const tables = [...this.sizes.keys()]
    this.sizesAt = this.clock.monotonic()
    const values = tables.flatMap((table) => [table, ...placeOf(table)])
    for (const row of await run(tableSizes(tables.length), values)) {
      // A view has no size of its own: what is behind it may be of any.
      this.sizes.set(
        String(row['probed']),
        row['estimate'] === null ? Number.MAX_SAFE_INTEGER : Number(row['estimate'] ?? 0)
      )
    }
  }
}

/** Schema (null is the session's) and name: a table of a probe may be `schema.table`. */
const placeOf = (table: string): [string | null, string] => {
  const dot = table.indexOf('.')
  return [dot < 0 ? null : table.slice(0, dot), table.slice(dot + 1)]
}

/** Under the name that the probe gives it: some servers fold case. */
const tableSizes = (count: number): string => Array.from({ length: count }, () => tableSize).join(' UNION ALL ')

const tableSize = `
SELECT ? AS probed, table_rows AS estimate FROM information_schema.tables
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?`
