import mysql from 'mysql2/promise'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { atMost, type Goal } from '../../support/report.ts'
import { CostMeter, type Cost } from './counted.ts'
import { measureLeases, type LeaseCosts } from './lease-costs.ts'
import { CostQueue } from './cost-queue.ts'

/*
 * What a claim of 50 costs beside tasks that it must not see: future, finished, blocked by a limit, and entries that an old snapshot
 * keeps from being purged. Each beside the same claim without them; the queues take turns.
 */

export interface CostOptions {
  readonly rounds: number
  readonly future: number
  readonly finished: number
  readonly blocked: number
  readonly leases: number
}

export interface Compared {
  readonly what: string
  readonly without: Cost
  readonly with: Cost
}

export interface ClaimCosts {
  readonly claims: readonly Compared[]
  readonly snapshot: Compared
  readonly leases: LeaseCosts
}

const claimsPerRound = 12

export async function claimCosts(server: TestMariaDb, options: CostOptions): Promise<ClaimCosts> {
  const { future, finished, blocked } = options
  const plain = await CostQueue.open(server, 'bench_plain')
  const withFuture = await CostQueue.open(server, 'bench_future', (queue) => queue.fillFuture(future))
  const withFinished = await CostQueue.open(server, 'bench_finished', (queue) => queue.fillFinished(finished))
  const limited = await CostQueue.open(server, 'bench_limited', (queue) => queue.block(1))
  const withBlocked = await CostQueue.open(server, 'bench_blocked', (queue) => queue.block(blocked))
  const queues = [plain, withFuture, withFinished, limited, withBlocked]
  await untilPurged(server)
  const meters = new Map(queues.map((queue) => [queue, new CostMeter(queue.sql)]))
  for (let round = 0; round < options.rounds; round++)
    for (const queue of round % 2 === 0 ? queues : [...queues].reverse())
      await queue.claims(claimsPerRound, meters.get(queue))
  const compare = (what: string, without: CostQueue, other: CostQueue): Compared => ({
    what,
    without: costOf(meters.get(without)),
    with: costOf(meters.get(other))
  })
  const claims = [
    compare(`${future} future tasks`, plain, withFuture),
    compare(`${finished} finished tasks`, plain, withFinished),
    compare(`${blocked} tasks blocked by a limit`, limited, withBlocked)
  ]
  for (const queue of queues) if (queue !== plain) await queue.close()
  const snapshot = await underOldSnapshot(server, plain, options.rounds)
  await plain.close()
  return { claims, snapshot, leases: await measureLeases(server, options.leases, options.rounds) }
}

/** A read view is the whole server's, so this one is measured in turns on one queue. */
async function underOldSnapshot(server: TestMariaDb, queue: CostQueue, rounds: number): Promise<Compared> {
  const [without, held] = [new CostMeter(queue.sql), new CostMeter(queue.sql)]
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    await queue.work(5_000)
    await untilPurged(server)
    await queue.claims(claimsPerRound, without)
    const snapshot = await mysql.createConnection({ uri: server.url('bench_plain') })
    await snapshot.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    await snapshot.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    // Each of these leaves dead entries before the live ones.
    await queue.work(5_000)
    await queue.claims(claimsPerRound, held)
    await snapshot.end()
  }
  return { what: 'an old snapshot held open for 5,000 tasks', without: without.cost(), with: held.cost() }
}

/** Dead entries that a fill left would be counted for the claim that comes next. */
async function untilPurged(server: TestMariaDb): Promise<void> {
  const connection = await mysql.createConnection({ uri: server.url() })
  try {
    for (const end = performance.now() + 60_000; performance.now() < end;) {
      const [rows] = await connection.query<mysql.RowDataPacket[]>(
        "SELECT count AS length FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'"
      )
      if (Number(rows[0]?.['length'] ?? 0) <= 50) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  } finally {
    await connection.end()
  }
}

const costOf = (meter: CostMeter | undefined): Cost =>
  meter?.cost() ?? { ms: Number.NaN, reads: Number.NaN, pages: Number.NaN }

export function claimCostGoals({ claims, snapshot, leases }: ClaimCosts): Goal[] {
  const most = 1.5
  return [
    ...[...claims, snapshot].map(({ what, without, with: beside }) =>
      atMost(`claim beside ${what}: rows read`, beside.reads / without.reads, 'ratio', most)
    ),
    atMost(`claim beside ${snapshot.what}: pages`, snapshot.with.pages / snapshot.without.pages, 'ratio', most),
    atMost('renewing all leases to renewing 200: rows read a lease', leases.renewReadsRatio, 'ratio', most),
    atMost('recovery of all leases to that of a tenth: rows read a lease', leases.recoverReadsRatio, 'ratio', most)
  ]
}
