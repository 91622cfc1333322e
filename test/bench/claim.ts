import { parseArgs } from 'node:util'
import { newTask, type SqlDatabase } from '../../src-main/kernel/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { startPrivateMariaDb } from '../support/mariadb.ts'
import { openTestQueue } from '../support/open-queue.ts'
import { atLeast, finish, median, type Goal } from '../support/report.ts'
import { RawLoop } from './raw-loop.ts'

/*
 * Claim and completion through the store against the raw loop, interleaved in one run on one server that syncs every commit.
 * Only the ratios mean anything: the machine's speed is not ours.
 */

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
    batches: { type: 'string', default: '1,10,50' },
    json: { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds)
const batches = values.batches.split(',').map(Number)
const type = 'bench'

const server = await startPrivateMariaDb({ flushAtCommit: 1 })
try {
  const database = 'bench_claim'
  await server.createDatabase(database)
  const queue = await openTestQueue(server.url(database))
  const { sql, store } = queue
  const raw = new RawLoop(server.url(database))
  const results = []
  for (const batch of batches) results.push(await compare(batch, sql, store, raw))
  await raw.close()
  await queue.close()
  finish({ bench: 'claim', rounds, results }, results.flatMap(goalsOf), values.json)
} finally {
  await server.stop()
}

interface Comparison {
  readonly batch: number
  readonly tasks: number
  readonly storePerSecond: number
  readonly rawPerSecond: number
  /** Median of the rounds' ratios, store to raw. */
  readonly ratio: number
}

function goalsOf({ batch, ratio }: Comparison): Goal[] {
  // The engine's promise (issue "The engine, complete") is stated at batch 50; smaller batches are shown beside it.
  return batch === 50 ? [atLeast('store to raw SQL loop, batch 50', ratio, 'ratio', 0.6)] : []
}

async function compare(batch: number, sql: SqlDatabase, store: TaskStore, raw: RawLoop): Promise<Comparison> {
  // Fewer tasks for small batches: each pays two synced commits a batch.
  const tasks = Math.min(Number(values.tasks), batch * 200)
  const pairs: { store: number; raw: number }[] = []
  await round(sql, store, tasks, () => raw.drain(type, batch)) // warms statements and pages
  for (let n = 0; n < rounds; n++) {
    const first = n % 2 === 0
    const a = first
      ? await round(sql, store, tasks, () => drain(store, batch))
      : await round(sql, store, tasks, () => raw.drain(type, batch))
    const b = first
      ? await round(sql, store, tasks, () => raw.drain(type, batch))
      : await round(sql, store, tasks, () => drain(store, batch))
    pairs.push(first ? { store: a, raw: b } : { store: b, raw: a })
  }
  return {
    batch,
    tasks,
    storePerSecond: Math.round(median(pairs.map((pair) => pair.store))),
    rawPerSecond: Math.round(median(pairs.map((pair) => pair.raw))),
    ratio: median(pairs.map((pair) => pair.store / pair.raw))
  }
}

/** Fills the queue, empties it with `work`, and returns tasks a second. */
async function round(sql: SqlDatabase, store: TaskStore, tasks: number, work: () => Promise<number>): Promise<number> {
  for (const table of ['taskdeck_attempt', 'taskdeck_task']) await sql.execute(`DELETE FROM ${table}`)
  await store.submit(Array.from({ length: tasks }, () => newTask.parse({ type, payload: '{}' })))
  const start = performance.now()
  const done = await work()
  const seconds = (performance.now() - start) / 1000
  if (done !== tasks) throw new Error(`${done} of ${tasks} tasks were worked off`)
  return tasks / seconds
}

async function drain(store: TaskStore, batch: number): Promise<number> {
  let done = 0
  for (;;) {
    const claimed = await store.claim({ workerId: 'bench', limit: batch, leaseMs: 30_000, types: [type] })
    if (claimed.length === 0) return done
    const settled = await store.settle(
      claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS' as const, result: '{}' }))
    )
    done += settled.filter((result) => result.state === 'SUCCESS').length
  }
}
