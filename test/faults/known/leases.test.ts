import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { deadLetterFilter, type Fence, type RetryPolicy, type SqlDatabase } from '../../../src-main/kernel/index.ts'
import type { TaskStore } from '../../../src-main/queue/task-store.ts'
import { startWorkerProcess } from '../../integration/pool-support/worker-process.ts'
import { Arena, leaseMs, type Contender } from '../mutants/arena.ts'
import { watching } from '../mutants/watching.ts'

/* Section B of the list of known faults (docs/faults.md): leases, recovery, shutdown. */

let arena: Arena
beforeAll(async () => {
  arena = await Arena.open(inject('mariadbUrl'))
})
afterEach(() => arena.reset())
afterAll(() => arena.close())

it('FAULTS 17: a task that loses its lease on every attempt is kept as a dead letter with all its attempts', async () => {
  const worker = await arena.contender('w1')
  const retryPolicy: RetryPolicy = { kind: 'list', delaysMs: [0] }
  const [taskId = ''] = await arena.submit(worker.store, 1, { maxAttempts: 3, retryPolicy })
  for (let attempt = 1; attempt <= 3; attempt++) {
    const [claimed] = await worker.claim()
    expect(claimed?.fence.attempt).toBe(attempt)
    await arena.expire(claimed!.fence)
    await worker.store.recover(10)
  }
  const task = await worker.store.get(taskId)
  expect(task).toMatchObject({ state: 'FAILED', errorCode: 'LEASE_EXPIRED' })
  expect(task?.attempts.map(({ outcome }) => outcome)).toEqual(['LEASE_EXPIRED', 'LEASE_EXPIRED', 'LEASE_EXPIRED'])
  const { rows } = await worker.store.deadLetters(deadLetterFilter.parse({}), 10, null)
  expect(rows).toMatchObject([{ taskId, attempt: 3, reason: 'EXHAUSTED', lastError: { code: 'LEASE_EXPIRED' } }])
})

it('FAULTS 18: what a killed worker process held is recovered within its lease and a sweep, and claimed again', async () => {
  const short = { leaseMs: 2_000, sweepMs: 300 }
  const busyMs = 15_000
  const start = (id: string): ReturnType<typeof startWorkerProcess> => {
    const times = ['--lease-ms', String(short.leaseMs), '--recover-ms', String(short.sweepMs), '--grace-ms', '500']
    return startWorkerProcess(arena.url, '--id', id, '--concurrency', '1', '--poll-ms', '50', ...times)
  }
  const producer = await arena.contender('p1')
  const [taskId = ''] = await arena.submit(producer.store, 1, {
    type: 'sleep',
    payload: '{"ms":600000}',
    retryPolicy: { kind: 'list', delaysMs: [0] }
  })
  const untilHeldBy = async (workerId: string): Promise<void> => {
    for (let held = ''; held !== workerId;) held = (await producer.store.get(taskId))?.workerId ?? ''
  }
  const killed = start('killed')
  await untilHeldBy('killed')
  const living = start('living')
  await living.untilSays(/started with 1 slot/)
  killed.child.kill('SIGKILL')
  await untilHeldBy('living')
  living.child.kill('SIGTERM')
  expect(await living.ended).toBe(0)

  const [changes] = await arena.admin.query(
    `SELECT to_state, worker_after, lease_over_us / 1000 AS over_ms, due_in_us / 1000 AS due_ms
     FROM witness WHERE NOT (from_state <=> to_state) ORDER BY seq LIMIT 4`
  )
  const [submitted, first, recovered, second] = changes as Record<string, unknown>[]
  expect(submitted).toMatchObject({ to_state: 'QUEUED' })
  expect(first).toMatchObject({ to_state: 'RUNNING', worker_after: 'killed' })
  expect(recovered).toMatchObject({ to_state: 'RETRY_WAIT' })
  expect(second).toMatchObject({ to_state: 'RUNNING', worker_after: 'living' })
  expect(Number(recovered?.['over_ms'])).toBeGreaterThanOrEqual(0)
  expect(Number(recovered?.['over_ms'])).toBeLessThan(short.sweepMs + busyMs)
  // How long it was due by then.
  expect(-Number(second?.['due_ms'])).toBeLessThan(busyMs)
})

it('FAULTS 19: a limit of one is free again when its task died on the last attempt', async () => {
  const worker = await arena.contender('w1')
  await worker.store.setPolicy({ scope: 'TYPE', name: 't', maxRunning: 1 })
  const [, second = ''] = await arena.submit(worker.store, 2, { maxAttempts: 1 })
  const [first] = await worker.claim(1)
  expect(await worker.store.claim({ workerId: worker.workerId, limit: 1, leaseMs, types: ['t'] })).toEqual([])
  await arena.expire(first!.fence)
  await worker.store.recover(10)
  expect(await worker.claim(1)).toMatchObject([{ fence: { taskId: second } }])
  expect(await arena.verdict({ limits: { types: { t: 1 } } })).toEqual([])
})

it('FAULTS 24: a lease that ran out and was given away is lost to its first holder, who is told so', async () => {
  const sleeper = await arena.contender('w1')
  const other = await arena.contender('w2')
  await arena.submit(sleeper.store, 1)
  const [old] = await sleeper.claim()
  await arena.expire(old!.fence)
  await other.store.recover(10)
  expect((await sleeper.store.renew([old!.fence])).lost).toEqual([old!.fence])
})

/** Fails at statement number `at` (from 0) of its transactions, as a cut connection does: the server rolls back. */
function cutAt(database: SqlDatabase, at: number): { database: SqlDatabase; wasCut: () => boolean } {
  let calls = 0
  return {
    database: watching(database, (runner, sql, values) =>
      calls++ === at ? Promise.reject(new Error('cut')) : runner.execute(sql, values)
    ),
    wasCut: () => calls > at
  }
}

interface Fences {
  readonly dead: Fence
  readonly running: Fence
  readonly expired: Fence
}

type Change = (store: TaskStore, fences: Fences, type: string) => Promise<unknown>

const changes: readonly (readonly [name: string, change: Change])[] = [
  ['claim', (store, { running: { workerId } }, type) => store.claim({ workerId, limit: 5, leaseMs, types: [type] })],
  ['end', (store, { running: fence }) => store.settle([{ fence, outcome: 'SUCCESS', result: '1' }])],
  ['recovery', (store) => store.recover(10)],
  ['retry', (store, { dead }) => store.act(dead.taskId, 'retry', 'ada')],
  ['cancel', (store, { running }) => store.act(running.taskId, 'cancel', 'ada')]
]

/** A task that failed, one that runs, one whose lease ran out, and one that waits. */
async function setUp(worker: Contender, type: string): Promise<Fences> {
  await arena.submit(worker.store, 3, { type, maxAttempts: 1 })
  const [dead, running, expired] = (await worker.claim(3, [type])).map(({ fence }) => fence)
  await worker.settle({ fence: dead!, outcome: 'FAILED', error: { code: 'E', message: '', class: 'final' } })
  await arena.expire(expired!)
  await arena.submit(worker.store, 1, { type })
  return { dead: dead!, running: running!, expired: expired! }
}

it.each(changes)(
  'FAULTS 27: a connection cut between any two statements leaves a %s done or undone as a whole',
  async (_name, change) => {
    const worker = await arena.contender('w1')
    let cuts = 0
    for (let wasCut = true; wasCut; cuts++) {
      const type = `t${cuts}`
      const fences = await setUp(worker, type)
      let cutting: ReturnType<typeof cutAt> | undefined
      const store = await worker.reopen((database) => (cutting = cutAt(database, cuts)).database)
      const outcome = await change(store, fences, type).then(
        () => 'done',
        (error: Error) => error.message
      )
      wasCut = cutting?.wasCut() ?? false
      expect(outcome).toBe(wasCut ? 'cut' : 'done')
      // What was cut can be done again.
      await change(worker.store, fences, type)
    }
    expect(cuts).toBeGreaterThan(2)
    expect(await arena.verdict({ clients: false, operators: [worker.workerId] })).toEqual([])
  }
)
