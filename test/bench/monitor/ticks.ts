import { openMysql, parseMysqlUrl } from '../../../src-main/connections/index.ts'
import { systemClock, type QueueReading } from '../../../src-main/kernel/index.ts'
import { createCostGuard, probeLimits } from '../../../src-main/monitoring/index.ts'
import { openMysqlStore } from '../../../src-main/queue/store-mysql/index.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { openTestQueue } from '../../support/open-queue.ts'
import { atMost, type Goal } from '../../support/report.ts'
import { plainCost, tickCost, wholeReading, type Cost } from './cost.ts'
import { addWaiting, fill } from './fill.ts'

/** Tasks that wait or run, at every size. */
export const live = 2_000
/** Of the rows of a table, that wait: the second measurement of each size. */
export const backlogShare = 0.1
/** A table of the largest size takes minutes to index. */
export const fillingTimeoutMs = 3_600_000

/** What article A asks at each look: counts by state and type, oldest waiting, failure rate. Each reads the whole table or all of an index. */
const plainStatements = [
  'SELECT state, type, COUNT(*) AS n FROM taskdeck_task GROUP BY state, type',
  "SELECT MIN(created_at) AS oldest FROM taskdeck_task WHERE state = 'QUEUED'",
  "SELECT SUM(state = 'FAILED') / COUNT(*) AS rate FROM taskdeck_task WHERE state_since > NOW(6) - INTERVAL 5 MINUTE"
]

export interface TickResult {
  readonly rows: number
  readonly fillSeconds: number
  readonly tick: Cost
  readonly plain: Cost
  /** The same tick with a tenth of the table waiting. */
  readonly backlog: Cost & { readonly waiting: number; readonly reported: QueueReading['depth'] }
}

export async function measureTicks(server: TestMariaDb, rows: number, rounds: number): Promise<TickResult> {
  const url = await server.createDatabase(`bench_monitor_${rows}`)
  const began = performance.now()
  const queue = await openTestQueue(url, {
    poolSize: 2,
    statementTimeoutMs: fillingTimeoutMs,
    beforeOpen: (empty) => fill(empty, { rows, live })
  })
  const fillSeconds = Math.round((performance.now() - began) / 1_000)
  const watched = await openWatched(url)
  const tick = await watched.ticks(rounds)
  const plain = await plainCost(queue.sql, plainStatements, Math.min(rounds, 3))
  const waiting = Math.round(rows * backlogShare)
  await addWaiting(queue.sql, waiting)
  const backlog = await watched.ticks(rounds)
  const { depth } = await watched.read()
  await watched.close()
  await queue.close()
  return { rows, fillSeconds, tick, plain, backlog: { ...backlog, waiting, reported: depth } }
}

interface Watched {
  read(): Promise<QueueReading>
  ticks(rounds: number): Promise<Cost>
  close(): Promise<void>
}

/** As the app does it, but for the budget of a minute, which ticks in a row would spend. */
export async function openWatched(url: string): Promise<Watched> {
  const database = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-only',
    poolSize: 1,
    acquireTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: probeLimits.statementMs,
    clock: systemClock
  })
  const unbounded = { ms: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }
  const probes = createCostGuard({ database, clock: systemClock, budget: unbounded })
  const store = await openMysqlStore({ database, clock: systemClock, claims: false, probes })
  const read = (): Promise<QueueReading> => wholeReading(() => store.read())
  return {
    read,
    ticks: (rounds) => tickCost(read, rounds),
    close: async () => {
      await store.close()
      await database.close()
    }
  }
}

/** The promises of the issue "Watching that never hurts"; a hundredth of the plain statements is promised at ten million rows. */
export function tickGoals(results: readonly TickResult[], of = 'a tick'): Goal[] {
  const [small, large] = [results[0], results.at(-1)]
  if (!small || !large || small === large) return []
  const share = large.rows >= 10_000_000 ? 0.01 : (0.01 * 10_000_000) / large.rows
  return [
    atMost(`${of} at ${large.rows} rows to one at ${small.rows}, ms`, large.tick.ms / small.tick.ms, 'ratio', 1.5),
    atMost(`${of}, the same, rows read`, large.tick.rowsRead / small.tick.rowsRead, 'ratio', 1.5),
    atMost(`${of} to the plain statements at ${large.rows} rows`, large.tick.ms / large.plain.ms, 'ratio', share),
    atMost(`rows read by ${of} with ${large.backlog.waiting} waiting tasks`, large.backlog.rowsRead, 'rows', 300_000)
  ]
}
