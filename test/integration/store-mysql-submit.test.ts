import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import {
  deadLetterFilter,
  systemClock,
  type SqlDatabase,
  type SqlRunner,
  type SqlValue
} from '../../src-main/kernel/index.ts'
import { pageOf, stepOf } from '../../src-main/queue/store-mysql/dead-letter-store.ts'
import { lettersOfAttempts } from '../../src-main/queue/store-mysql/dead-letters.ts'
import { openDependents } from '../../src-main/queue/store-mysql/endings.ts'
import { openDependentsAfter } from '../../src-main/queue/store-mysql/noted-endings.ts'
import { openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { countAll, countOwnerOfType, countType, nextUnfinishedType } from '../../src-main/queue/store-mysql/quotas.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import { losingReplies, MysqlQueue, tasks, undoingOnce } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect(2)
})
afterAll(() => queue.close())
beforeEach(async () => {
  for (const table of ['task', 'attempt', 'dependency', 'ending', 'dead_letter', 'policy', 'gate'])
    await database.execute(`DELETE FROM taskdeck_${table}`)
})

const counted = async (sql: string): Promise<number> => Number((await database.execute(sql)).rows[0]?.['n'])

/** Counts what crosses the wire: statements, and the beginning and the end of a transaction. */
async function roundTripsOf(work: (store: TaskStore) => Promise<unknown>): Promise<number> {
  let trips = 0
  const counting = (runner: SqlRunner): SqlRunner => ({
    execute: (sql, values) => {
      trips++
      return runner.execute(sql, values)
    }
  })
  const { flavour, serverVersion } = database
  const store = await openMysqlStore({
    database: {
      flavour,
      serverVersion,
      execute: (sql, values) => counting(database).execute(sql, values),
      transaction: (run, options) => {
        trips += 2
        return database.transaction((runner) => run(counting(runner)), options)
      },
      close: () => database.close()
    },
    clock: systemClock
  })
  trips = 0
  await work(store)
  return trips
}

describe('round trips', () => {
  it('are at most 25 for 10,000 small tasks', async () => {
    expect(await roundTripsOf((store) => store.submit(tasks(10_000)))).toBeLessThanOrEqual(25)
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_task')).toBe(10_000)
  })

  it('are at most 50 for 10,000 tasks with keys, and half of them for keys that are known', async () => {
    const keyed = tasks(10_000).map((task, i) => ({ ...task, idempotencyKey: `k${i}` }))
    expect(await roundTripsOf((store) => store.submit(keyed))).toBeLessThanOrEqual(50)
    expect(await roundTripsOf((store) => store.submit(keyed))).toBeLessThanOrEqual(25)
  })

  it('are four for one task', async () => {
    expect(await roundTripsOf((store) => store.submit(tasks(1)))).toBe(4)
  })

  it('stay below 40 for 10,000 tasks with quotas of the queue, their type and their owner', async () => {
    const store = await queue.store(database)
    for (const [scope, name] of [
      ['QUEUE', ''],
      ['TYPE', '*'],
      ['OWNER', '*']
    ] as const)
      await store.setPolicy({ scope, name, maxUnfinished: 50_000 })
    expect(await roundTripsOf((counting) => counting.submit(tasks(10_000, { owner: 'ann' })))).toBeLessThanOrEqual(40)
  })
})

describe('a lost reply to the commit', () => {
  it('of tasks with dependencies and quotas leaves them there once', async () => {
    const store = await queue.store(database)
    await store.setPolicy({ scope: 'TYPE', name: '*', maxUnfinished: 5 })
    const [parent] = await store.submit(tasks(1, { type: 'parent' }))
    const losing = await openMysqlStore({ database: losingReplies(database), clock: systemClock })
    const after = [parent!.taskId]
    const results = await losing.submit([...tasks(2, { after }), ...tasks(1, { after, idempotencyKey: 'k' })])
    expect(results.map(({ status }) => status)).toEqual(['created', 'created', 'created'])
    expect(await counted('SELECT COUNT(*) AS n FROM taskdeck_dependency')).toBe(3)
    await losing.submit(tasks(1, { idempotencyKey: 'k', after }))
    await losing.submit(tasks(2))
    await expect(losing.submit(tasks(1))).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })

  it('of ends, replays and discards changes nothing twice', async () => {
    const store = await queue.store(database)
    const losing = await openMysqlStore({ database: losingReplies(database), clock: systemClock })
    const [parent] = await store.submit(tasks(1))
    const children = await store.submit(tasks(3, { type: 'child', after: [parent!.taskId] }))
    await losing.act(parent!.taskId, 'cancel', 'ada')
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_dead_letter WHERE reason = 'DEPENDENCY'")).toBe(3)
    const range = { upToId: (await store.newestDeadLetter())!, limit: 2, cursor: null, by: 'ada' }
    await losing.replay(deadLetterFilter.parse({}), range)
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_task WHERE state = 'QUEUED'")).toBe(2)
    const [left] = (await store.deadLetters(deadLetterFilter.parse({}), 10, null)).rows
    expect(await losing.resolveDeadLetter(left!.id, 'discard', 'ada')).toMatchObject({ status: 'done' })
    expect((await store.get(children[2]!.taskId))!.state).toBe('FAILED')
    expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_dead_letter WHERE resolved_by = 'ada'")).toBe(3)
  })

  it.each(['replay', 'discard'] as const)(
    'of a %s that was undone does not take what another operator did since for its own',
    async (action) => {
      const store = await queue.store(await queue.connect())
      const [created] = await store.submit(tasks(1, { maxAttempts: 1 }))
      const [claimed] = await store.claim({ workerId: 'w', types: ['t'], limit: 1, leaseMs: 60_000 })
      const error = { code: 'E', message: 'm', class: 'final' } as const
      await store.settle([{ fence: claimed!.fence, outcome: 'FAILED', error }])
      const id = (await store.newestDeadLetter())!
      const undoing = undoingOnce(database, () => store.resolveDeadLetter(id, action, 'bob'))
      const operator = await openMysqlStore({ database: undoing, clock: systemClock })
      expect(await operator.resolveDeadLetter(id, action, 'ada')).toMatchObject({ status: 'refused' })
      expect(await counted("SELECT COUNT(*) AS n FROM taskdeck_dead_letter WHERE resolved_by = 'bob'")).toBe(1)
      expect((await store.get(created!.taskId))!.state).toBe(action === 'replay' ? 'QUEUED' : 'FAILED')
    }
  )
})

describe('query plans', () => {
  it('of quotas, dependents and dead letters read ranges of their indexes in order, without a sort', async () => {
    await database.execute(`
      INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, finished_at, owner, title, payload_hash, payload)
      WITH RECURSIVE one AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM one WHERE n < 100)
      SELECT CONCAT('type', a.n % 4), 'QUEUED', 5, NOW(6), NOW(6), NOW(6), CASE WHEN b.n > 50 THEN NOW(6) END,
        CONCAT('owner', b.n % 7), '', REPEAT('x', 32), '{}' FROM one AS a CROSS JOIN one AS b`)
    await database.execute(
      "INSERT INTO taskdeck_dependency SELECT id, MOD(id, 50), 'FAIL', MOD(id, 3) = 0 FROM taskdeck_task"
    )
    await database.execute(`
      INSERT INTO taskdeck_dead_letter (task_id, attempt, type, owner, title, died_at, reason, last_error_code, resolution)
      SELECT id, 1, type, owner, '', NOW(6), 'FINAL', 'E', CASE WHEN MOD(id, 3) = 0 THEN 'OPEN' ELSE 'REPLAYED' END FROM taskdeck_task`)
    await database.execute('ANALYZE TABLE taskdeck_task, taskdeck_dependency, taskdeck_dead_letter')
    const filter = deadLetterFilter.parse({})
    const range = { after: 10n, upTo: 90_000n }
    const ofType = deadLetterFilter.parse({ types: ['type1'], reason: 'FINAL', errorCode: 'E' })
    const plans: [string, readonly SqlValue[], string][] = [
      [countAll, [100], 'taskdeck_task_finished'],
      [countType, ['type1', 100], 'taskdeck_task_finished'],
      [countOwnerOfType, ['type1', 'owner1', 100], 'taskdeck_task_finished'],
      [nextUnfinishedType, ['type1'], 'taskdeck_task_finished'],
      [openDependents(2), [1n, 2n, 500], 'taskdeck_dependency_waits_for'],
      [openDependentsAfter, [1n, 0n, 500], 'taskdeck_dependency_waits_for'],
      [pageOf(filter, null, 50).sql, pageOf(filter, null, 50).values, 'taskdeck_dead_letter_newest'],
      [pageOf(filter, 500n, 50).sql, pageOf(filter, 500n, 50).values, 'taskdeck_dead_letter_newest'],
      [pageOf(ofType, 500n, 50).sql, pageOf(ofType, 500n, 50).values, 'taskdeck_dead_letter_type'],
      [stepOf(filter, range, 500).sql, stepOf(filter, range, 500).values, 'taskdeck_dead_letter_newest'],
      [stepOf(ofType, range, 500).sql, stepOf(ofType, range, 500).values, 'taskdeck_dead_letter_type']
    ]
    for (const [sql, values, key] of plans) {
      const rows = (await database.execute(`EXPLAIN ${sql}`, values)).rows.filter((row) => row['key'] !== null)
      expect(rows, sql).toHaveLength(1)
      expect(rows[0], sql).toMatchObject({ key })
      expect(['range', 'ref'], sql).toContain(rows[0]?.['type'])
      expect(String(rows[0]?.['Extra']), sql).not.toMatch(/filesort|temporary/i)
      // Walked as far as the filter matches nothing: only through the index, never through the texts of the rows.
      expect(String(rows[0]?.['Extra']), sql).toMatch(/Using index/i)
    }
    // The causes of a death: a task's own attempts and letters, in the order of their keys.
    const letters = (await database.execute(`EXPLAIN ${lettersOfAttempts(2)}`, [1n, 2n])).rows
    const read = letters.filter((row) => ['task', 'attempt', 'earlier'].includes(String(row['table'])))
    expect(read.map((row) => `${String(row['table'])} ${String(row['key'])}`).sort()).toEqual([
      ...['attempt PRIMARY', 'attempt PRIMARY'],
      ...['earlier taskdeck_dead_letter_task', 'earlier taskdeck_dead_letter_task'],
      'task PRIMARY'
    ])
    for (const row of read) {
      expect(['range', 'ref']).toContain(row['type'])
      expect(String(row['Extra'])).not.toMatch(/filesort/i)
    }
  })
})
