import type { ClaimedTask } from '../../../src-main/queue/task-store.ts'
import type { TestMariaDb } from '../../support/mariadb.ts'
import { CostMeter, type Cost } from './counted.ts'
import { CostQueue } from './cost-queue.ts'

/** Heartbeats of many live leases, and the recovery of as many that nobody renewed. */
export interface LeaseCosts {
  readonly leases: number
  readonly renew200: Cost
  readonly renewAll: Cost
  readonly recoverAll: Cost
  readonly recoveredPerSecond: number
  /** Of the rows read a lease, all to few. */
  readonly renewReadsRatio: number
  readonly recoverReadsRatio: number
}

const few = 200
const largestClaim = 1_000

export async function measureLeases(server: TestMariaDb, count: number, rounds: number): Promise<LeaseCosts> {
  const queue = await CostQueue.open(server, 'bench_leases')
  const some = Math.floor(count / 10)
  const [renewFew, renewAll] = [new CostMeter(queue.sql), new CostMeter(queue.sql)]
  const recoverSome = new CostMeter(queue.sql)
  await leased(queue, some)
  await expire(queue)
  await recovered(queue, some, recoverSome)
  await queue.sql.execute('DELETE FROM taskdeck_task')
  const fences = (await leased(queue, count)).map(({ fence }) => fence)
  for (let round = 0; round < rounds; round++) {
    await renewFew.measure(() => queue.store.renew(fences.slice(0, few)))
    const { renewed } = await renewAll.measure(() => queue.store.renew(fences))
    if (renewed.length !== count) throw new Error(`${renewed.length} of ${count} leases were renewed`)
  }
  await expire(queue)
  const recoverAll = new CostMeter(queue.sql)
  await recovered(queue, count, recoverAll)
  await queue.close()
  const [fewCost, allCost, someCost, wholeCost] = [renewFew, renewAll, recoverSome, recoverAll].map((meter) =>
    meter.cost()
  ) as [Cost, Cost, Cost, Cost]
  return {
    leases: count,
    renew200: fewCost,
    renewAll: allCost,
    recoverAll: wholeCost,
    recoveredPerSecond: Math.round((count / wholeCost.ms) * 1_000),
    renewReadsRatio: allCost.reads / count / (fewCost.reads / few),
    recoverReadsRatio: wholeCost.reads / count / (someCost.reads / some)
  }
}

async function leased(queue: CostQueue, count: number): Promise<ClaimedTask[]> {
  await queue.submit(count)
  const all: ClaimedTask[] = []
  while (all.length < count) {
    const claimed = await queue.claim(Math.min(largestClaim, count - all.length))
    if (claimed.length === 0) throw new Error(`${all.length} of ${count} tasks were claimed`)
    all.push(...claimed)
  }
  return all
}

/** As if their worker had died an hour ago. */
async function expire(queue: CostQueue): Promise<void> {
  await queue.sql.execute(
    "UPDATE taskdeck_task SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE state = 'RUNNING' AND lease_until IS NOT NULL"
  )
}

async function recovered(queue: CostQueue, count: number, meter: CostMeter): Promise<void> {
  const found = await meter.measure(() => queue.store.recover(count))
  if (found.length !== count) throw new Error(`${found.length} of ${count} leases were recovered`)
}
