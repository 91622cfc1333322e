import type { SqlDatabase } from '../../../src-main/kernel/index.ts'
import { median } from '../../support/report.ts'

/** What one call costs. */
export interface Cost {
  /** Median. */
  readonly ms: number
  /** Rows read by the server for it (Handler_read_* of the session), mean. */
  readonly reads: number
  /** Pages that InnoDB went to for it (of the whole server, whose purge counts too), median: they show dead index entries, which count as no row. */
  readonly pages: number
}

/** Collects what calls on one session cost. */
export class CostMeter {
  private readonly sql: SqlDatabase
  private readonly ms: number[] = []
  private readonly reads: number[] = []
  private readonly pages: number[] = []

  /** `sql`: of one connection, or another session's counters would be read. */
  constructor(sql: SqlDatabase) {
    this.sql = sql
  }

  async measure<T>(work: () => Promise<T>): Promise<T> {
    const own = await this.ownCost()
    const before = await this.counters()
    const start = performance.now()
    const result = await work()
    this.ms.push(performance.now() - start)
    const after = await this.counters()
    this.reads.push(after.reads - before.reads - own.reads)
    this.pages.push(after.pages - before.pages - own.pages)
    return result
  }

  cost(): Cost {
    return { ms: round(median(this.ms)), reads: round(mean(this.reads)), pages: round(median(this.pages)) }
  }

  /** Reading the counters counts too. */
  private async ownCost(): Promise<Counters> {
    const before = await this.counters()
    const after = await this.counters()
    return { reads: after.reads - before.reads, pages: after.pages - before.pages }
  }

  private async counters(): Promise<Counters> {
    const { rows } = await this.sql.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
    const { rows: pages } = await this.sql.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'")
    const sum = (some: typeof rows): number => some.reduce((total, row) => total + Number(row['Value']), 0)
    return { reads: sum(rows), pages: sum(pages) }
  }
}

interface Counters {
  readonly reads: number
  readonly pages: number
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const round = (value: number): number => Number(value.toPrecision(4))
