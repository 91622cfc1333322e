import type { QueueReading, SqlDatabase } from '../../../src-main/kernel/index.ts'
import { median } from '../../support/report.ts'

export interface Cost {
  readonly ms: number
  /** Rows and index entries that the server read, by the session's own count. */
  readonly rowsRead: number
}

/** A reading with all figures that the table has. A busy machine may look like a slow server; what was then left out must not look cheap. */
export async function wholeReading(read: () => Promise<QueueReading>): Promise<QueueReading> {
  for (;;) {
    const reading = await read()
    const held = reading.limits.filter(({ reason }) => reason !== 'schema')
    if (held.length === 0) return reading
    if (held.some(({ reason }) => reason !== 'slow')) throw new Error(`the guard held back ${JSON.stringify(held)}`)
  }
}

export async function tickCost(read: () => Promise<QueueReading>, rounds: number): Promise<Cost> {
  // The first ones read plans, and pages from the disk.
  await wholeReading(read)
  await wholeReading(read)
  const costs: Cost[] = []
  for (let round = 0; round < rounds; round++) {
    const { costMs, costRows } = await wholeReading(read)
    costs.push({ ms: costMs, rowsRead: costRows ?? Number.NaN })
  }
  return medianOf(costs)
}

export async function plainCost(sql: SqlDatabase, statements: readonly string[], rounds: number): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < rounds; round++) {
    const before = await rowsRead(sql)
    const start = performance.now()
    for (const statement of statements) await sql.execute(statement)
    const ms = performance.now() - start
    costs.push({ ms, rowsRead: (await rowsRead(sql)) - before })
  }
  return medianOf(costs)
}

/** Nothing else runs on this server. */
async function rowsRead(sql: SqlDatabase): Promise<number> {
  const { rows } = await sql.execute("SHOW GLOBAL STATUS LIKE 'Handler_read%'")
  return rows.reduce((sum, row) => sum + Number(row['Value']), 0)
}

const medianOf = (costs: readonly Cost[]): Cost => ({
  ms: median(costs.map(({ ms }) => ms)),
  rowsRead: median(costs.map((cost) => cost.rowsRead))
})
