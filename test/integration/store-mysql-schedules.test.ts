import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { AppError, systemClock, type SqlDatabase, type SqlValue } from '../../src-main/kernel/index.ts'
import {
  findLate,
  findNext,
  findOnTime,
  findUncounted,
  runSchedules
} from '../../src-main/queue/store-mysql/schedules.ts'
import { findHintPorts } from '../../src-main/queue/store-mysql/workers.ts'
import { MysqlQueue } from './store-mysql-queue.ts'

const count = 400

let queue: MysqlQueue
let database: SqlDatabase

beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect()
  const numbers = Array.from({ length: count }, (_, n) => n)
  await database.execute(
    `INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, next_at, updated_at) VALUES ${numbers
      .map(
        (n) =>
          `('s${n}', '* * * * *', 'UTC', 'ONCE', ${n % 2}, '{}', ${n % 2 ? `NOW(6) + INTERVAL ${n} HOUR` : 'NULL'}, NOW(6))`
      )
      .join(', ')}`
  )
  await database.execute(
    `INSERT INTO taskdeck_worker (id, incarnation, host, pid, version, status, slots, running, threads, queued, started_at, last_heartbeat_at,
       database_state) VALUES ${numbers
         .map((n) => `('w${n}', 'i', 'h', 1, '1', 'running', 1, 0, 0, 0, NOW(6), NOW(6) - INTERVAL ${n} MINUTE, 'ok')`)
         .join(', ')}`
  )
  await database.execute('ANALYZE TABLE taskdeck_schedule, taskdeck_worker')
})
afterAll(() => queue.close())

it.each<[string, string, SqlValue[], string]>([
  ['schedules on time', findOnTime, [], 'taskdeck_schedule_next'],
  ['late schedules', findLate, [], 'taskdeck_schedule_next'],
  ['schedules without a tick', findUncounted, [], 'taskdeck_schedule_next'],
  ['the next tick', findNext, [], 'taskdeck_schedule_next'],
  ['who listens for hints', findHintPorts, ['h'], 'taskdeck_worker_heartbeat']
])('%s are found in an index, without a sort', async (_name, sql, values, key) => {
  const { rows } = await database.execute(`EXPLAIN ${sql}`, values)
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({ key })
  expect(String(rows[0]?.['Extra'])).not.toMatch(/filesort|temporary/i)
  expect(['range', 'ref']).toContain(rows[0]?.['type'])
})

it('a round tells of every schedule that failed', async () => {
  await database.execute(`
    INSERT INTO taskdeck_schedule (name, cron, time_zone, misfire, enabled, task, next_at, updated_at)
    VALUES ('a', '* * * * * *', 'UTC', 'ONCE', 1, '{"type":"t","payload":"{}"}', NOW(6) - INTERVAL 2 SECOND, NOW(6)),
      ('b', '* * * * * *', 'UTC', 'ONCE', 1, '{"type":"t","payload":"{}"}', NOW(6) - INTERVAL 2 SECOND, NOW(6))`)
  const away = new AppError('CONNECTION_LOST', 'operational', 'away')
  await expect(
    runSchedules(database, { submit: () => Promise.reject(away), clock: systemClock })
  ).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    message: '2 schedules failed. "a": CONNECTION_LOST: away; "b": CONNECTION_LOST: away'
  })
})
