import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { systemClock, type Fence, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { endingLimits } from '../../src-main/queue/dependents.ts'
import { lockOwner } from '../../src-main/queue/store-mysql/claim-lanes.ts'
import type { Settlement, TaskStore } from '../../src-main/queue/task-store.ts'
import { countingTrouble, MysqlQueue, pausing, tasks, type LockTrouble } from './store-mysql-queue.ts'

/*
 * Whoever waits for a lock must hold none that comes after it (decision 0011). Each test keeps one task locked, lets the store wait for
 * it, and looks at what the store holds meanwhile.
 */

let queue: MysqlQueue
let store: TaskStore
let other: SqlDatabase
let watching: SqlDatabase

beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  store = await queue.store()
  other = await queue.connect()
  watching = await queue.connect()
})
afterAll(() => queue.close())
beforeEach(async () => {
  for (const table of ['dependency', 'ending', 'task', 'attempt', 'policy', 'gate', 'dead_letter'])
    await watching.execute(`DELETE FROM taskdeck_${table}`)
})

const submit = async (...input: Parameters<typeof tasks>[1][]): Promise<string[]> => {
  const ids: string[] = []
  // One by one: ids in the order of the list.
  for (const one of input) ids.push(...(await store.submit(tasks(1, one))).map(({ taskId }) => taskId))
  return ids
}

const claimAll = async (types: string[]): Promise<Map<string, Fence>> => {
  const claimed = await store.claim({ workerId: 'w', types, limit: 50, leaseMs: 60_000 })
  return new Map(claimed.map(({ fence }) => [fence.taskId, fence]))
}

/** Until a session of this database waits for a lock. The server renews what it tells only when nobody has asked for 100 ms. */
async function someoneWaits(): Promise<void> {
  const waiting = `
    SELECT COUNT(*) AS n FROM information_schema.innodb_trx AS trx
    JOIN information_schema.processlist AS session ON session.id = trx.trx_mysql_thread_id
    WHERE session.db = DATABASE() AND trx.trx_state = 'LOCK WAIT'`
  do await systemClock.sleep(110)
  while (Number((await watching.execute(waiting)).rows[0]?.['n']) === 0)
}

/** Which of the tasks nobody has locked. */
async function freeTasks(ids: readonly string[]): Promise<string[]> {
  const { rows } = await watching.transaction((runner) =>
    runner.execute(
      `SELECT id FROM taskdeck_task FORCE INDEX (PRIMARY) WHERE id IN (${ids.join(', ')}) ORDER BY id FOR UPDATE SKIP LOCKED`
    )
  )
  return rows.map(({ id }) => String(id))
}

/** Works while someone else has the task, and looks once the work waits for it. */
async function whileLocked<T>(
  taskId: string,
  work: readonly Settlement[] | (() => Promise<unknown>),
  look: () => Promise<T>
): Promise<T> {
  let working: Promise<unknown> = Promise.resolve()
  const seen = await other.transaction(async (runner) => {
    await runner.execute('SELECT id FROM taskdeck_task WHERE id = ? FOR UPDATE', [BigInt(taskId)])
    working = typeof work === 'function' ? work() : store.settle(work)
    await someoneWaits()
    return look()
  })
  await working
  return seen
}

const error = { code: 'E', message: 'm', class: 'retryable' } as const
const success = (fence: Fence | undefined): Settlement => ({ fence: fence!, outcome: 'SUCCESS', result: null })
const retry = (fence: Fence | undefined): Settlement => ({ fence: fence!, outcome: 'RETRY', error, delayMs: 0 })

it('a settlement that waits for a dependent does not hold the gate of a retry', async () => {
  await store.setPolicy({ scope: 'TYPE', name: 't', retriesPerMinute: 600 })
  const [first] = await submit({})
  await store.settle([retry((await claimAll(['t'])).get(first!))])
  const [retried, parent] = await submit({}, { type: 'parent' })
  const [dependent] = await submit({ type: 'child', after: [parent!] })
  const fences = await claimAll(['t', 'parent'])
  const free = await whileLocked(dependent!, [retry(fences.get(retried!)), success(fences.get(parent!))], async () => {
    const gate = "SELECT name FROM taskdeck_gate WHERE kind = 'RETRY' AND scope = 'TYPE' AND name = 't'"
    return (await watching.transaction((runner) => runner.execute(`${gate} FOR UPDATE SKIP LOCKED`))).rows
  })
  expect(free).toEqual([{ name: 't' }])
  expect((await store.get(dependent!))?.state).toBe('QUEUED')
  expect((await store.get(retried!))?.state).toBe('RETRY_WAIT')
})

it('a settlement of successes that waits for one of them holds no younger one, in whatever order they came', async () => {
  const ids = await submit({}, {}, {}, {})
  const fences = await claimAll(['t'])
  const settlements = [3, 0, 2, 1].map((place) => success(fences.get(ids[place]!)))
  expect(await whileLocked(ids[1]!, settlements, () => freeTasks(ids))).toEqual(ids.slice(2))
  expect(await Promise.all(ids.map(async (id) => (await store.get(id))?.state))).toEqual(ids.map(() => 'SUCCESS'))
})

it('a settlement that waits for a dependent holds no younger task', async () => {
  const [parent] = await submit({})
  const [dependent] = await submit({ type: 'child', after: [parent!] })
  const [younger] = await submit({})
  const fences = await claimAll(['t'])
  const settlements = [success(fences.get(parent!)), success(fences.get(younger!))]
  expect(await whileLocked(dependent!, settlements, () => freeTasks([parent!, younger!]))).toEqual([younger])
  expect((await store.get(dependent!))?.state).toBe('QUEUED')
})

it('a settlement whose two tasks both have dependents holds nothing younger than the one that it waits for', async () => {
  const [parent] = await submit({})
  const [dependent] = await submit({ type: 'child', after: [parent!] })
  const [younger] = await submit({})
  const [last] = await submit({ type: 'child', after: [younger!] })
  const fences = await claimAll(['t'])
  const settlements = [success(fences.get(parent!)), success(fences.get(younger!))]
  expect(await whileLocked(dependent!, settlements, () => freeTasks([parent!, younger!, last!]))).toEqual([
    younger,
    last
  ])
  expect(await Promise.all([dependent!, last!].map(async (id) => (await store.get(id))?.state))).toEqual([
    'QUEUED',
    'QUEUED'
  ])
})

it('a settlement takes dependents that are free at once, whatever their ids', async () => {
  const [parent] = await submit({})
  const [dependent] = await submit({ type: 'child', after: [parent!] })
  const [younger] = await submit({})
  const fences = await claimAll(['t'])
  const [result] = await store.settle([success(fences.get(parent!)), success(fences.get(younger!))])
  expect(result).toMatchObject({ state: 'SUCCESS', dependents: [{ taskId: dependent, state: 'QUEUED' }] })
  expect((await store.get(dependent!))?.state).toBe('QUEUED')
})

describe('two noted parents', () => {
  /** As a transaction leaves them that had to stop. */
  const endNoted = async (...parents: string[]): Promise<void> => {
    const ids = parents.join(', ')
    await watching.execute(`UPDATE taskdeck_task SET state = 'SUCCESS', finished_at = NOW(6) WHERE id IN (${ids})`)
    for (const id of parents)
      await watching.execute(`INSERT INTO taskdeck_ending (task_id, done_up_to) VALUES (${id}, 0)`)
  }
  const statesOf = async (ids: readonly string[]): Promise<unknown[]> =>
    Promise.all(ids.map(async (id) => (await store.get(id))?.state))

  it.each([
    ['a few dependents', 1],
    ['more dependents than one transaction takes', endingLimits.dependents]
  ])('with %s are seen to one by one while one in between is locked, and nothing younger is held', async (_, many) => {
    const [first] = await submit({})
    const [between] = await submit({ type: 'child', after: [first!] })
    const [second] = await submit({})
    const later = await store.submit(tasks(many, { type: 'child', after: [second!] }))
    const last = later.at(-1)!.taskId
    await endNoted(first!, second!)
    const look = (): Promise<string[]> => freeTasks([first!, second!, last])
    expect(await whileLocked(between!, () => store.recover(1_000), look)).toEqual([second, last])
    expect(await statesOf([between!, last])).toEqual(['QUEUED', 'QUEUED'])
    expect((await watching.execute('SELECT task_id FROM taskdeck_ending')).rows).toEqual([])
  })

  it('with more free dependents than one transaction takes cost one transaction each', async () => {
    const [first, second] = await submit({}, {})
    for (const after of [first!, second!]) await store.submit(tasks(300, { type: 'child', after: [after] }))
    await endNoted(first!, second!)
    let steps = 0
    const counting = pausing(await queue.connect(), (sql) => {
      if (/^SELECT .* FROM taskdeck_ending WHERE/.test(sql)) steps++
      return Promise.resolve()
    })
    expect(await (await queue.store(counting)).recover(1_000)).toHaveLength(600)
    expect(steps).toBe(2)
  })
})

it('two claims that meet limited owners for the first time, in opposite order, do not wait for each other', async () => {
  await store.setPolicy({ scope: 'OWNER', name: '*', maxRunning: 1 })
  for (const [type, first, second] of [
    ['a', 'x', 'y'],
    ['b', 'y', 'x']
  ] as const)
    await submit({ type, owner: first, priority: 0 }, { type, owner: second, priority: 1 })
  const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
  const isHeld = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() }
  const claim = async (type: 'a' | 'b'): Promise<string[]> => {
    const untilBothHold = async (sql: string): Promise<void> => {
      if (sql !== lockOwner) return
      isHeld[type].resolve()
      await Promise.all([isHeld.a.promise, isHeld.b.promise])
    }
    const database = pausing(countingTrouble(await queue.connect(), trouble), untilBothHold)
    const claimed = await (
      await queue.store(database)
    ).claim({ workerId: type, types: [type], limit: 2, leaseMs: 60_000 })
    return claimed.map(({ owner }) => owner)
  }
  const one = claim('a')
  await isHeld.a.promise
  expect(await Promise.all([one, claim('b')])).toEqual([['x'], ['y']])
  expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
})

it.each([
  ['leases', 'lease_until', 'lease_until = NULL'],
  ['deadlines', 'deadline_at', 'deadline_at = NULL']
])('a recovery of %s that waits holds nothing of a task that it passed over', async (_, column, change) => {
  const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
  const [over, taken] = await submit({ maxAttempts: 1 }, {})
  const [dependent] = await submit({ type: 'child', after: [over!], afterFailure: 'RELEASE' })
  if (column === 'lease_until') await claimAll(['t'])
  await watching.execute(
    `UPDATE taskdeck_task SET ${column} = NOW(6) - INTERVAL 1 SECOND WHERE id IN (${over}, ${taken})`
  )
  let recovering: Promise<unknown> = Promise.resolve()
  const recovery = await queue.store(countingTrouble(await queue.connect(), trouble))
  await countingTrouble(other, trouble).transaction(
    async (runner) => {
      await runner.execute(`SELECT id FROM taskdeck_task WHERE id IN (${taken}, ${dependent}) ORDER BY id FOR UPDATE`)
      recovering = recovery.recover(10)
      await someoneWaits()
      await runner.execute(`UPDATE taskdeck_task SET ${change} WHERE id = ${taken}`)
    },
    { retries: 0 }
  )
  await recovering
  expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  expect((await store.get(dependent!))?.state).toBe('QUEUED')
})
