import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { QueueReading, SqlDatabase } from '../../src-main/kernel/index.ts'
import { MysqlQueue } from './store-mysql-queue.ts'

/* The depth of queues that are too long to be counted at once: group by group, and beyond a limit by the server's estimate. */

let queue: MysqlQueue
let database: SqlDatabase

beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect(2)
})
afterAll(() => queue.close())
beforeEach(() => database.execute('TRUNCATE TABLE taskdeck_task').then(() => undefined))

/** So many tasks whose columns are made of `n`, from 1 on. */
async function fill(
  count: number,
  columns: { type: string; state: string; priority: string; runAt: string }
): Promise<void> {
  await database.execute(
    `
    INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload)
    WITH RECURSIVE one AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM one WHERE i < 300),
      numbers AS (SELECT a.i + 300 * (b.i - 1) AS n FROM one AS a CROSS JOIN one AS b)
    SELECT ${columns.type}, ${columns.state}, ${columns.priority}, ${columns.runAt}, NOW(6), NOW(6), '', '', REPEAT('x', 32), '{}'
    FROM numbers WHERE n <= ?`,
    [count]
  )
}

async function fullCount(): Promise<Map<string, number>> {
  const { rows } = await database.execute('SELECT type, state, COUNT(*) AS n FROM taskdeck_task GROUP BY type, state')
  return new Map(rows.map((row) => [`${String(row['type'])} ${String(row['state'])}`, Number(row['n'])]))
}
const countOf = ({ depth }: QueueReading): Map<string, number> =>
  new Map(depth.map(({ type, state, count }) => [`${type} ${state}`, count]))

describe('the depth of a long queue', () => {
  it('equals a full count while no group goes beyond its limit: types, priorities, held and future tasks', async () => {
    await fill(30_000, {
      type: "CONCAT('t', n % 3)",
      state: "ELT(1 + n % 4, 'QUEUED', 'RETRY_WAIT', 'CREATED', 'PAUSED')",
      priority: 'n % 5',
      runAt: 'NOW(6) + INTERVAL (n % 7 - 3) HOUR'
    })
    await database.execute('ANALYZE TABLE taskdeck_task')
    const reading = await (await queue.store(database)).read()
    expect(countOf(reading)).toEqual(await fullCount())
    expect(reading.depth.every(({ accuracy = 'exact' }) => accuracy === 'exact')).toBe(true)
    expect(reading.limits).toEqual([])
  })

  it('is about right by state beyond the limit, and says so; what is small beside it stays exact', async () => {
    await fill(75_000, { type: "'long'", state: "'QUEUED'", priority: '5', runAt: 'NOW(6) - INTERVAL n SECOND' })
    // Retries come due beside it, and in the next minutes.
    await fill(900, { type: "'long'", state: "'RETRY_WAIT'", priority: '5', runAt: 'NOW(6) + INTERVAL n - 300 SECOND' })
    await fill(75_000, {
      type: "'held'",
      state: "IF(n % 4 = 0, 'PAUSED', 'CREATED')",
      priority: '5',
      runAt: 'NOW(6) + INTERVAL n SECOND'
    })
    await fill(900, { type: "'short'", state: "'QUEUED'", priority: '1', runAt: 'NOW(6)' })
    await database.execute('ANALYZE TABLE taskdeck_task')
    const reading = await (await queue.store(database)).read()
    const counts = countOf(reading)
    const accuracy = new Map(reading.depth.map((part) => [`${part.type} ${part.state}`, part.accuracy ?? 'exact']))
    const count = (key: string): number => counts.get(key) ?? 0
    expect(count('short QUEUED')).toBe(900)
    expect(accuracy.get('short QUEUED')).toBe('exact')

    expect(count('long QUEUED')).toBeGreaterThan(75_000 / 1.5)
    expect(count('long QUEUED')).toBeLessThan(75_000 * 1.5)
    // Met around now, where all was counted, and not in the samples of the backlog, which is no proof.
    expect(count('long RETRY_WAIT')).toBe(900)
    expect([accuracy.get('long QUEUED'), accuracy.get('long RETRY_WAIT')]).toEqual(['about', 'about'])

    const held = count('held PAUSED') + count('held CREATED')
    expect(held).toBeGreaterThan(75_000 / 2)
    expect(held).toBeLessThan(75_000 * 2)
    expect(count('held PAUSED') / held).toBeGreaterThan(0.2)
    expect(count('held PAUSED') / held).toBeLessThan(0.3)
    expect([accuracy.get('held PAUSED'), accuracy.get('held CREATED')]).toEqual(['about', 'about'])

    expect(reading.oldest.map(({ type }) => type)).toEqual(['long', 'short'])
    expect(reading.oldest[0]?.ageMs).toBeGreaterThan(74_000_000)
  })
})
