import mysql from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Probe, SqlDatabase, SqlResult, SqlValue } from '../../src-main/kernel/index.ts'
import { endingLimits } from '../../src-main/queue/dependents.ts'
import { attemptsRunning } from '../../src-main/queue/store-mysql/attempts-window.ts'
import { nextGroup } from '../../src-main/queue/store-mysql/claim-groups.ts'
import { lockGroup, lockOwner, peekGroups, peekOwners } from '../../src-main/queue/store-mysql/claim-lanes.ts'
import { firstOwner, nextOwner } from '../../src-main/queue/store-mysql/claim-owners.ts'
import { endEqualSuccesses, endSuccesses } from '../../src-main/queue/store-mysql/end-successes.ts'
import { endTasks, recordAttempts } from '../../src-main/queue/store-mysql/end-attempts.ts'
import { countLeased, lockAvailableGates } from '../../src-main/queue/store-mysql/gates.ts'
import * as probes from '../../src-main/queue/store-mysql/probes.ts'
import { storeProgress } from '../../src-main/queue/store-mysql/lease.ts'
import { expiredLeases, passedDeadlines } from '../../src-main/queue/store-mysql/recover.ts'
import type { ClaimedTask, TaskStore } from '../../src-main/queue/task-store.ts'
import { everything, losingReplies, MysqlQueue, tasks } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase

beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect(2)
})
afterAll(() => queue.close())

const request = { workerId: 'w1', limit: 10, leaseMs: 60_000, types: ['t'] }
const empty = async (): Promise<void> => {
  for (const table of ['task', 'attempt', 'log', 'artifact', 'dependency', 'ending'])
    await database.execute(`DELETE FROM taskdeck_${table}`)
}
const counted = async (sql: string): Promise<number> => Number((await database.execute(sql)).rows[0]?.['n'])

describe('query plans, with 20,000 tasks of four types', () => {
  beforeAll(async () => {
    await empty()
    // seq_1_to_N is MariaDB's; MySQL takes the same rows from a recursive query of at most 1,000 steps.
    await database.execute(`
      INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, deadline_at, finished_at, lease_until, attempt,
        attempts_used, owner, title, payload_hash, payload, max_attempts, retry_policy)
      WITH RECURSIVE one AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM one WHERE n < 200),
        two AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM two WHERE n < 100)
      SELECT CONCAT('type', one.n % 4), CASE WHEN two.n <= 40 THEN 'QUEUED' WHEN two.n <= 42 THEN 'RUNNING' ELSE 'SUCCESS' END, one.n % 3,
        NOW(6) - INTERVAL one.n SECOND, NOW(6), NOW(6), CASE WHEN two.n < 10 THEN NOW(6) END,
        CASE WHEN two.n > 42 THEN NOW(6) - INTERVAL two.n SECOND END, CASE WHEN two.n IN (41, 42) THEN NOW(6) END, 1, 1,
        '', '', REPEAT('x', 32), '{}', 5, '{}' FROM one CROSS JOIN two`)
    await database.execute('ANALYZE TABLE taskdeck_task')
  })

  const floor = '1970-01-01 00:00:00.000000'
  const plan = async (sql: string, values: SqlValue[] = []) => (await database.execute(`EXPLAIN ${sql}`, values)).rows

  it.each<[string, string, SqlValue[], string]>([
    ['the claim', lockGroup, [1, 'type1', floor, 50], 'taskdeck_task_claim'],
    ['the claim of one owner', lockOwner, [1, 'type1', '', floor, 50], 'taskdeck_task_turn'],
    ['the jump to the first owner', firstOwner, [1, 'type1', ''], 'taskdeck_task_turn'],
    ['the jump to the next owner', nextOwner, [1, 'type1', 'a'], 'taskdeck_task_turn'],
    ['the lock of gates', lockAvailableGates(2), ['RUN', 'TYPE', 'a', 'b'], 'PRIMARY'],
    ['the look for groups', nextGroup, [0, 'type1', 0], 'taskdeck_task_claim'],
    ['recovery of leases', expiredLeases, [100], 'taskdeck_task_lease'],
    ['recovery of deadlines', passedDeadlines, [100], 'taskdeck_task_deadline'],
    ['the first group of the depth', probes.groupsFor('depth').first.sql, [], 'taskdeck_task_claim'],
    ['the next group of the depth', probes.groupsFor('depth').next.sql, [1, 'type1', 1], 'taskdeck_task_claim'],
    ['running attempts', attemptsRunning(false).sql, [], 'taskdeck_task_lease'],
    ['running attempts of a type', attemptsRunning(true).sql, ['type1'], 'taskdeck_task_lease']
  ])('%s reads its index in order, without a sort', async (_, sql, values, index) => {
    const rows = await plan(sql, values)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ key: index })
    expect(String(rows[0]?.['Extra'])).not.toMatch(/filesort|temporary/i)
    expect(['range', 'ref']).toContain(rows[0]?.['type'])
  })

  it.each<[string, string, SqlValue[], string]>([
    ['types', peekGroups(2), [0, 1, 'type1', floor, 50, 1, 1, 'type2', floor, 50, 50], 'taskdeck_task_claim'],
    ['owners', peekOwners(2), [0, 1, 'type1', '', floor, 50, 1, 1, 'type1', 'a', floor, 50, 50], 'taskdeck_task_turn']
  ])(
    'the look for the longest due of several %s reads each in the order of its index',
    async (_, sql, values, index) => {
      const rows = (await plan(sql, values)).filter((row) => row['table'] === 'taskdeck_task')
      expect(rows).toHaveLength(2)
      for (const row of rows) {
        expect(row).toMatchObject({ key: index, type: 'range' })
        expect(String(row['Extra'])).toMatch(/Using index/)
        expect(String(row['Extra'])).not.toMatch(/filesort|temporary/i)
      }
    }
  )

  it.each([
    ['the end of tasks', endTasks],
    ['the end of successes', endSuccesses],
    ['the report of progress', storeProgress],
    ['the record of attempts', recordAttempts]
  ])('%s meets each task by its primary key', async (_, sql) => {
    const values = sql === endSuccesses ? ['[[1],[2]]', 'w1', 1] : [JSON.stringify([{ id: '1' }, { id: '2' }])]
    const rows = await plan(sql, values)
    expect(rows.find((row) => row['table'] === 'task')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
  })

  it('the end of successes at the same attempt goes through the primary key in its order', async () => {
    const values = [1n, 2n, null, '1', 1n, 2n, 1, 'w1', 0]
    const row = (await plan(endEqualSuccesses(2), values)).find(({ table }) => table === 'taskdeck_task')
    expect(row).toMatchObject({ type: 'range', key: 'PRIMARY' })
    expect(String(row?.['Extra'])).not.toMatch(/filesort|temporary|buffer/i)
  })

  const strata = Array.from({ length: probes.strata }, (): SqlValue[] => [1, 'type1', floor, '2100-01-01'])
  it.each<[string, Probe, SqlValue[]]>([
    ['the longest due of groups', probes.oldestOfGroups(2), [1, 'type1', 2, 'type2']],
    ['what a group holds beyond a number', probes.groupBeyond, [1, 'type1', 50]],
    ['sizes of groups', probes.groupSizes(2), [1, 'type1', 2, 'type2']],
    ['sizes of strata', probes.strataSizes, [...strata.flat(), 1, 'type1', floor, floor, 1n]],
    ['states of strata', probes.strataStates, strata.flatMap((range) => [0, ...range])]
  ])('the probe of %s reads each in the order of the claim index', async (_, { sql }, values) => {
    const rows = (await plan(sql, values)).filter(({ table }) => table === 'taskdeck_task')
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) {
      expect(row).toMatchObject({ key: 'taskdeck_task_claim' })
      expect(['range', 'ref']).toContain(row['type'])
      expect(String(row['Extra'])).not.toMatch(/filesort|temporary/i)
    }
  })

  it('the states of groups are counted in their ranges of the claim index alone', async () => {
    const rows = await plan(probes.groupStates(2).sql, [0, 1, 'type1', 1, 2, 'type2'])
    const tables = rows.filter(({ table }) => table === 'taskdeck_task')
    expect(tables).toHaveLength(2)
    for (const row of tables) {
      expect(row).toMatchObject({ key: 'taskdeck_task_claim', type: 'ref' })
      expect(String(row['Extra'])).toMatch(/Using index/)
    }
  })

  it.each([
    ['waiting depth', probes.waitingDepth.sql, 'taskdeck_task_claim'],
    ['leased depth', probes.leasedDepth.sql, 'taskdeck_task_lease'],
    ['leases for limits', countLeased, 'taskdeck_task_lease'],
    ['submitted', probes.submitted.sql, 'taskdeck_task_created'],
    ['finished', probes.finished.sql, 'taskdeck_task_finished'],
    ['ended', probes.ended.sql, 'taskdeck_attempt_ended'],
    ['newest attempts', probes.newestAttempts.sql, 'taskdeck_attempt_ended']
  ])('the probe of %s reads a range of one index', async (_, sql, index) => {
    const table = (await plan(sql)).find((row) => row['key'] !== null)
    expect(table).toMatchObject({ key: index, type: 'range' })
  })
})

describe('opening', () => {
  it('is refused without tables, and without the index of the claim, by name (FAULTS 2)', async () => {
    const other = await MysqlQueue.empty(inject('mariadbUrl'))
    try {
      await expect(other.store()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    } finally {
      await other.close()
    }
    const broken = await MysqlQueue.migrated(inject('mariadbUrl'))
    try {
      const connection = await broken.connect()
      await connection.execute('ALTER TABLE taskdeck_task DROP INDEX taskdeck_task_claim')
      await expect(broken.store(connection)).rejects.toMatchObject({
        code: 'SCHEMA_BROKEN',
        message: expect.stringContaining('taskdeck_task_claim') as string
      })
      await connection.execute('ALTER TABLE taskdeck_task ADD INDEX taskdeck_task_claim (claim_rank, run_at)')
      await expect(broken.store(connection)).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
    } finally {
      await broken.close()
    }
  })
})

describe('the fence of a write', () => {
  beforeEach(empty)

  it.each([
    ['the end of tasks', endTasks, { outcome: 'SUCCESS', state: 'SUCCESS', finished: 1, uncounted: 0, errorChange: 1 }],
    ['the report of progress', storeProgress, { total: null, processed: 1, succeeded: 1, failed: 0, skipped: 0 }]
  ])('is whole in the statement for %s: task, worker, attempt', async (_, sql, values) => {
    const store = await queue.store(database)
    await store.submit(tasks(1))
    const [claimed] = await store.claim({ workerId: 'w1', types: ['t'], limit: 1, leaseMs: 60_000 })
    const { taskId: id, attempt } = claimed!.fence
    const write = async (fence: object): Promise<number> =>
      (await database.execute(sql, [JSON.stringify([{ ...values, ...fence }])])).affectedRows
    expect(await write({ id, attempt, worker: 'w2' })).toBe(0)
    expect(await write({ id, attempt, worker: 'W1' })).toBe(0)
    expect(await write({ id, attempt, worker: null })).toBe(0)
    expect(await write({ id, attempt: attempt + 1, worker: 'w1' })).toBe(0)
    expect(await write({ id, attempt, worker: 'w1' })).toBe(1)
  })
})

describe('the end of plain successes', () => {
  beforeEach(empty)

  interface Written {
    readonly taskId: string
    readonly attempt: number
    readonly worker: string
  }
  const oneByOne = ({ taskId, attempt, worker }: Written): Promise<SqlResult> =>
    database.execute(endSuccesses, [JSON.stringify([[taskId, attempt, '1']]), worker, 1])
  const asEquals = ({ taskId, attempt, worker }: Written): Promise<SqlResult> => {
    const ids = [BigInt(taskId), BigInt(taskId)]
    return database.execute(endEqualSuccesses(2), [...ids, '1', '1', ...ids, attempt, worker, 1])
  }

  it.each([
    ['one by one', oneByOne],
    ['all at the same attempt', asEquals]
  ])('has the whole fence, %s: task, worker, attempt', async (_, end) => {
    const store = await queue.store(database)
    await store.submit(tasks(1))
    const [claimed] = await store.claim({ workerId: 'w1', types: ['t'], limit: 1, leaseMs: 60_000 })
    const { taskId, attempt } = claimed!.fence
    const write = async (fence: { attempt: number; worker: string }): Promise<number> =>
      (await end({ taskId, ...fence })).affectedRows
    expect(await write({ attempt, worker: 'w2' })).toBe(0)
    expect(await write({ attempt, worker: 'W1' })).toBe(0)
    expect(await write({ attempt: attempt + 1, worker: 'w1' })).toBe(0)
    expect(await write({ attempt, worker: 'w1' })).toBe(1)
    expect(await write({ attempt, worker: 'w1' })).toBe(0)
  })

  it('gives each of several tasks at the same attempt its own result, or none', async () => {
    const store = await queue.store(database)
    await store.submit(tasks(5))
    const claimed = await store.claim({ workerId: 'w1', types: ['t'], limit: 5, leaseMs: 60_000 })
    const results = ['{"of":1}', null, JSON.stringify(`\\ ' é😀`), '2', '']
    await store.settle(
      claimed.map(({ fence }, index) => ({ fence, outcome: 'SUCCESS', result: results[index] ?? null }) as const)
    )
    const stored = await Promise.all(claimed.map(async ({ fence }) => (await store.get(fence.taskId))?.result))
    expect(stored).toEqual(results)
  })

  it('clears the error of earlier attempts, keeps what was saved of progress, and each task gets its own result', async () => {
    const store = await queue.store(database)
    await store.submit(tasks(3))
    const first = await store.claim({ workerId: 'w1', types: ['t'], limit: 1, leaseMs: 60_000 })
    const error = { code: 'E', message: 'first', class: 'retryable' } as const
    await store.settle(first.map(({ fence }) => ({ fence, outcome: 'RETRY', error, delayMs: 0 })))
    const claimed = await store.claim({ workerId: 'w1', types: ['t'], limit: 3, leaseMs: 60_000 })
    expect(claimed).toHaveLength(3)
    const progress = { total: 9, processed: 5, succeeded: 5, failed: 0, skipped: 0 }
    await store.saveProgress(claimed.map(({ fence }) => ({ fence, progress, checkpoint: undefined })))
    const resultOf = (taskId: string): string => JSON.stringify({ of: taskId, text: `"\\'\u00e9 ${taskId}` })
    await store.settle(
      claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: resultOf(fence.taskId) }) as const)
    )
    for (const { fence } of claimed) {
      const detail = await store.get(fence.taskId)
      expect(detail).toMatchObject({ state: 'SUCCESS', progress, result: resultOf(fence.taskId) })
      expect(detail?.attempts.find(({ attempt }) => attempt === fence.attempt)).toMatchObject({
        outcome: 'SUCCESS',
        progress
      })
    }
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_task WHERE error_code IS NOT NULL')).toBe(0)
  })
})

describe('claiming', () => {
  beforeEach(empty)

  it('gives 2,000 tasks of several types to 8 racing claimers, each once, and loses none', async () => {
    const store = await queue.store(database)
    const types = ['a', 'b', 'c', 'd']
    await store.submit(types.flatMap((type, index) => tasks(500, { type, priority: index % 2 })))
    const stores = await Promise.all(Array.from({ length: 8 }, () => queue.store()))
    let left = 2_000
    const drain = async (claimer: TaskStore, index: number): Promise<string[]> => {
      const mine: string[] = []
      while (left > 0) {
        const claimed = await claimer.claim({ ...request, workerId: `w${index}`, types, limit: 1 + index * 7 })
        left -= claimed.length
        mine.push(...claimed.map(({ fence }) => fence.taskId))
      }
      return mine
    }
    const claimed = (await Promise.all(stores.map(drain))).flat()
    expect(claimed).toHaveLength(2_000)
    expect(new Set(claimed).size).toBe(2_000)
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'RUNNING' AND attempt = 1")).toBe(2_000)
  })

  it('passes tasks that another transaction holds, and comes back to them', async () => {
    const store = await queue.store()
    const [held, free] = (await store.submit(tasks(2))).map(({ taskId }) => taskId)
    const holder = await queue.connect()
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = holder.transaction(async (runner) => {
      await runner.execute('SELECT id FROM taskdeck_task WHERE id = ? FOR UPDATE', [held ?? ''])
      locked.resolve()
      await release.promise
    })
    await locked.promise
    expect((await store.claim(request)).map(({ fence }) => fence.taskId)).toEqual([free])
    release.resolve()
    await holding
    expect((await store.claim(request)).map(({ fence }) => fence.taskId)).toEqual([held])
  })

  it('finds a back-dated task and a new type of another process within 250 ms of a busy claimer', async () => {
    const store = await queue.store()
    const producer = await queue.store()
    await store.submit(tasks(3_000, { priority: 5 }))
    const wanted = new Set<string>()
    const step = async (): Promise<void> => {
      const claimed = await store.claim({ ...request, types: ['t', 'new'], limit: 1 })
      for (const { fence } of claimed) wanted.delete(fence.taskId)
    }
    await step()
    const backDated = tasks(1, { priority: 5, runAt: Date.now() - 3_600_000 })
    const urgent = tasks(1, { type: 'new', priority: 0 })
    for (const { taskId } of await producer.submit([...backDated, ...urgent])) wanted.add(taskId)
    const began = performance.now()
    while (wanted.size > 0 && performance.now() - began < 10_000) await step()
    expect(wanted.size).toBe(0)
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'QUEUED'")).toBeGreaterThan(0)
  })

  it('refuses a stale fence of the same worker, who has claimed the task again', async () => {
    const store = await queue.store()
    await store.submit(tasks(1))
    const [first] = await store.claim(request)
    await database.execute('UPDATE taskdeck_task SET lease_until = NOW(6) - INTERVAL 1 SECOND')
    await store.recover(10)
    await database.execute('UPDATE taskdeck_task SET run_at = NOW(6) - INTERVAL 1 HOUR')
    const [second] = await store.claim(request)
    expect(second?.fence).toEqual({ ...first?.fence, attempt: 2 })
    const stale = (first as ClaimedTask).fence
    expect(await store.settle([{ fence: stale, outcome: 'SUCCESS', result: null }])).toEqual([
      { fence: stale, state: undefined }
    ])
    expect((await store.renew([stale])).lost).toEqual([stale])
  })
})

describe('after a lost reply to a commit', () => {
  beforeEach(empty)

  it('a claim is found by its token and its tasks are handed over', async () => {
    await (await queue.store()).submit(tasks(3))
    const store = await queue.store(losingReplies(database))
    expect(await store.claim({ ...request, limit: 3 })).toHaveLength(3)
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_task WHERE attempt = 1')).toBe(3)
  })

  it('tasks are submitted once, with and without keys', async () => {
    const store = await queue.store(losingReplies(database))
    const plain = await store.submit(tasks(5))
    const keyed = await store.submit([...tasks(1, { idempotencyKey: 'k' }), ...tasks(1)])
    expect(plain.every(({ status }) => status === 'created')).toBe(true)
    expect(keyed.map(({ status }) => status)).toEqual(['created', 'created'])
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_task')).toBe(7)
  })

  it('a settlement and an operator action happen once and say what they did', async () => {
    const store = await queue.store(losingReplies(database))
    const [created] = await store.submit(tasks(1, { maxAttempts: 1 }))
    const [claimed] = await store.claim(request)
    const error = { code: 'E', message: 'm', class: 'final' } as const
    const settled = await store.settle([{ fence: (claimed as ClaimedTask).fence, outcome: 'FAILED', error }])
    expect(settled[0]?.state).toBe('FAILED')
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_attempt')).toBe(1)
    expect(await store.act(created?.taskId ?? '', 'retry', 'ada')).toEqual({
      status: 'done',
      from: 'FAILED',
      to: 'QUEUED'
    })
  })

  it('an operator action was done when a worker has taken the task since', async () => {
    const store = await queue.store()
    const [created] = await store.submit(tasks(1, { held: true }))
    let claimed = 0
    const hurried = losingReplies(database, async () => {
      claimed += (await store.claim(request)).length
    })
    const operator = await queue.store(hurried)
    expect(await operator.act(created!.taskId, 'release', 'ada')).toEqual({
      status: 'done',
      from: 'CREATED',
      to: 'QUEUED'
    })
    expect(claimed).toBe(1)
    expect((await store.get(created!.taskId))?.state).toBe('RUNNING')
  })

  it('a settlement says that it released a dependent', async () => {
    const store = await queue.store(losingReplies(database))
    const [parent] = await store.submit(tasks(1))
    const [claimed] = await store.claim(request)
    const [child] = await store.submit(tasks(1, { after: [parent!.taskId] }))
    const settlement = { fence: claimed!.fence, outcome: 'SUCCESS', result: null } as const
    const dependents = [expect.objectContaining({ taskId: child!.taskId, state: 'QUEUED' })]
    expect(await store.settle([settlement])).toEqual([{ fence: settlement.fence, state: 'SUCCESS', dependents }])
    expect((await store.get(child!.taskId))?.state).toBe('QUEUED')
  })

  it('a settlement goes on with the dependents that it noted', async () => {
    const store = await queue.store(losingReplies(database))
    const [parent] = await store.submit(tasks(1))
    const [claimed] = await store.claim(request)
    await store.submit(tasks(endingLimits.dependents + 1, { type: 'child', after: [parent!.taskId] }))
    await store.settle([{ fence: claimed!.fence, outcome: 'SUCCESS', result: null }])
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'CREATED'")).toBe(0)
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_ending')).toBe(0)
  })
})

describe('rows that the engine would never write', () => {
  beforeEach(empty)

  /** As another program with its own idea of sql_mode. */
  const lax = async (...statements: string[]): Promise<void> => {
    const stranger = await mysql.createConnection(queue.made.url)
    try {
      for (const sql of ["SET sql_mode = ''", ...statements]) await stranger.query(sql)
    } finally {
      await stranger.end()
    }
  }

  it('with zero dates take neither the reading nor the list nor the claim away', async () => {
    const store = await queue.store()
    await store.submit(tasks(2))
    await store.claim({ ...request, limit: 1 })
    await lax("UPDATE taskdeck_task SET run_at = 0, created_at = 0 WHERE state = 'QUEUED'")
    await lax(`INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
      VALUES (1, 7, 't', 'w', 0, 0, NOW(6), 'FAILED')`)
    const reading = await store.read()
    expect(reading.depth).toContainEqual({ type: 't', state: 'QUEUED', count: 1 })
    expect(reading.duration).toBeNull()
    const filter = { states: [], types: [], owner: null, workerId: null, errorCode: null, search: null }
    const { rows } = await store.list({ ...filter, createdFrom: null, createdTo: null }, 10, null)
    expect(rows.map(({ createdAt }) => new Date(createdAt).getUTCFullYear())).toContain(0)
    expect(await store.claim(request)).toHaveLength(1)
  })

  it('with counters at their end do not keep the tasks behind them from being claimed', async () => {
    const store = await queue.store()
    await store.submit(tasks(3))
    const { rows } = await database.execute('SELECT MIN(id) AS id FROM taskdeck_task')
    await database.execute('UPDATE taskdeck_task SET attempt = 4294967295, attempts_used = 4294967295 WHERE id = ?', [
      rows[0]?.['id'] ?? null
    ])
    const claimed = await store.claim(request)
    expect(claimed).toHaveLength(3)
    const settled = await store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
    expect(settled.map(({ state }) => state).sort()).toEqual(['SUCCESS', 'SUCCESS', undefined])
  })

  it('such as a record of an attempt that still runs stay, and the attempts of the batch end', async () => {
    const store = await queue.store()
    await store.submit(tasks(2))
    const claimed = await store.claim(request)
    await database.execute(`INSERT INTO taskdeck_attempt (task_id, attempt, type, worker_id, due_at, started_at, ended_at, outcome)
      SELECT id, attempt, type, 'stranger', NOW(6), NOW(6), NOW(6), 'FAILED' FROM taskdeck_task LIMIT 1`)
    const settled = await store.settle(claimed.map(({ fence }) => ({ fence, outcome: 'SUCCESS', result: null })))
    expect(settled.map(({ state }) => state)).toEqual(['SUCCESS', 'SUCCESS'])
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_attempt WHERE worker_id = 'stranger'")).toBe(1)
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_attempt')).toBe(2)
  })

  it('with the largest id are in the list', async () => {
    const store = await queue.store()
    await store.submit(tasks(2))
    const largest = 18_446_744_073_709_551_615n
    await database.execute('UPDATE taskdeck_task SET id = ? ORDER BY id DESC LIMIT 1', [largest])
    const first = await store.list(everything, 1, null)
    expect(first.rows.map(({ id }) => id)).toEqual([String(largest)])
    expect((await store.list(everything, 1, first.nextCursor)).rows).toHaveLength(1)
    await lax('DELETE FROM taskdeck_task', 'ALTER TABLE taskdeck_task AUTO_INCREMENT = 1')
  })
})
