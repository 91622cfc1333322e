import { setTimeout as pause } from 'node:timers/promises'
import type { Fence } from '../../../src-main/kernel/index.ts'
import type { Violation } from '../checker.ts'
import { Arena, leaseMs } from './arena.ts'
import { afterStatement, beforeStatement } from './watching.ts'

/*
 * Races played step by step on the real store. On the engine as it is the checker finds nothing; on the mutant that a scenario is for
 * it names the broken promise.
 */

type Scenario = (arena: Arena) => Promise<readonly Violation[]>

/** The first holder comes back after its lease was given to another worker. */
const staleHolder: Scenario = async (arena) => {
  const first = await arena.contender('w1')
  const second = await arena.contender('w2')
  await arena.submit(first.store, 1)
  const old = await takeOne(first.claim())
  await arena.expire(old)
  await second.store.recover(10)
  await arena.makeDue(old.taskId)
  const current = await takeOne(second.claim())
  await first.settle({ fence: old, outcome: 'SUCCESS', result: '"old"' })
  await second.settle({ fence: current, outcome: 'SUCCESS', result: '"new"' })
  return arena.verdict()
}

/** The same, but the worker that claims again is the one that lost the lease. */
const staleSelf: Scenario = async (arena) => {
  const worker = await arena.contender('w1')
  await arena.submit(worker.store, 1)
  const old = await takeOne(worker.claim())
  await arena.expire(old)
  await worker.store.recover(10)
  await arena.makeDue(old.taskId)
  const current = await takeOne(worker.claim())
  await worker.settle({ fence: old, outcome: 'SUCCESS', result: '"old"' })
  await worker.settle({ fence: current, outcome: 'SUCCESS', result: '"new"' })
  return arena.verdict()
}

/** How long the holder is given to end its task while a recovery has listed it; with locks it waits for the recovery (ms). */
const betweenMs = 700

/** Recovery pauses between listing and writing, and the holder ends its task meanwhile. */
const rewoundByRecovery: Scenario = async (arena) => {
  const holder = await arena.contender('w1')
  let settled: Promise<void> = Promise.resolve()
  const rescuer = await arena.contender('w2', (database) =>
    afterStatement(database, 'AND lease_until <= NOW(6)', async () => {
      settled = holder.settle({ fence, outcome: 'SUCCESS', result: null })
      await Promise.race([settled, pause(betweenMs)])
    })
  )
  await arena.submit(holder.store, 1)
  const fence = await takeOne(holder.claim())
  await arena.expire(fence)
  await rescuer.store.recover(10)
  await settled
  return arena.verdict()
}

/** The record of an attempt deadlocks with another transaction, which has written more: ours is the victim. */
const deadlockedSettlement: Scenario = async (arena) => {
  let reached: () => void = () => undefined
  const aboutToRecord = new Promise<void>((resolve) => (reached = resolve))
  let go: () => void = () => undefined
  const mayRecord = new Promise<void>((resolve) => (go = resolve))
  const worker = await arena.contender('w1', (database) =>
    beforeStatement(database, 'INSERT INTO taskdeck_attempt', async () => {
      reached()
      await mayRecord
    })
  )
  await arena.submit(worker.store, 1)
  const fence = await takeOne(worker.claim())
  await arena.admin.beginTransaction()
  // Our record will wait for this row. The many others make that transaction the heavier one.
  await arena.admin.query(
    `INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
     SELECT ${fence.taskId}, seq, 't', '', NOW(6), NOW(6), NOW(6), 'RETRY' FROM (${numbersTo(200)}) AS numbers`
  )
  const ending = worker.settle({ fence, outcome: 'SUCCESS', result: null })
  await aboutToRecord
  go()
  await arena.admin.query(`SELECT id FROM taskdeck_task WHERE id = ${fence.taskId} FOR UPDATE`)
  await arena.admin.rollback()
  await ending
  return arena.verdict()
}

/** A machine whose clock is an hour ahead (scenario-process.ts) claims while one task is due and another is not. */
const skewedClaimer: Scenario = async (arena) => {
  const worker = await arena.contender('w1')
  await arena.submit(worker.store, 1)
  await arena.submit(worker.store, 1, { runAt: Date.now() + 600_000 })
  await worker.claim()
  return arena.verdict()
}

/** Room for one: the second submission comes while the first has found it and not yet taken it up. */
const racingSubmitters: Scenario = async (arena) => {
  const second = await arena.contender('p2')
  let refused: Promise<unknown> = Promise.resolve()
  const first = await arena.contender('p1', (database) =>
    afterStatement(database, 'SELECT COUNT(*) AS n FROM (SELECT 1', async () => {
      refused = arena.submit(second.store, 1).catch((error: unknown) => error)
      await Promise.race([refused, pause(betweenMs)])
    })
  )
  await first.store.setPolicy({ scope: 'TYPE', name: 't', maxUnfinished: 1 })
  await arena.submit(first.store, 1).catch((error: unknown) => error)
  await refused
  return arena.verdict({ limits: { unfinished: { t: 1 } } })
}

/** Room for one: the second claim comes while the first has counted and not yet taken a task. */
const racingClaimers: Scenario = async (arena) => {
  const second = await arena.contender('w2')
  let also: Promise<unknown> = Promise.resolve()
  const first = await arena.contender('w1', (database) =>
    beforeStatement(database, "SET state = 'RUNNING'", async () => {
      also = second.store.claim({ workerId: second.workerId, limit: 1, leaseMs, types: ['t'] })
      await Promise.race([also, pause(betweenMs)])
    })
  )
  await first.store.setPolicy({ scope: 'TYPE', name: 't', maxRunning: 1 })
  await arena.submit(first.store, 3)
  // So that the gate's row is there already.
  await second.settle({ fence: await takeOne(second.claim(1)), outcome: 'SUCCESS', result: null })
  await first.claim(1)
  await also
  return arena.verdict({ limits: { types: { t: 1 } } })
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'stale-holder': staleHolder,
  'stale-self': staleSelf,
  'rewound-by-recovery': rewoundByRecovery,
  'deadlocked-settlement': deadlockedSettlement,
  'skewed-claimer': skewedClaimer,
  'racing-submitters': racingSubmitters,
  'racing-claimers': racingClaimers
}

export async function runScenario(name: string, serverUrl: string): Promise<readonly Violation[]> {
  const scenario = scenarios[name]
  if (!scenario) throw new Error(`There is no scenario ${name}.`)
  const arena = await Arena.open(serverUrl)
  try {
    return await scenario(arena)
  } finally {
    await arena.close()
  }
}

async function takeOne(claiming: Promise<readonly { readonly fence: Fence }[]>): Promise<Fence> {
  const [claimed] = await claiming
  if (!claimed) throw new Error('nothing was claimed')
  return claimed.fence
}

const numbersTo = (count: number): string =>
  Array.from({ length: count }, (_, index) => `SELECT ${index + 1} AS seq`).join(' UNION ALL ')
