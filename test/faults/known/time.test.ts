import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { newTask } from '../../../src-main/kernel/index.ts'
import { Arena, type Contender } from '../mutants/arena.ts'

/* Section C of the list of known faults (docs/faults.md): time. */

let arena: Arena
let worker: Contender
beforeAll(async () => {
  arena = await Arena.open(inject('mariadbUrl'))
  worker = await arena.contender('w1')
})
afterAll(() => arena.close())

const zones = ['UTC', 'Asia/Shanghai', 'Asia/Kathmandu', 'America/St_Johns', 'Europe/Berlin', 'Europe/London']

/** Hours that clocks in these zones repeat or leave out, and one that is in no way special. */
const moments = [
  ['an hour that autumn repeats', Date.UTC(2026, 9, 25, 0, 30, 10, 123)],
  ['an hour that spring leaves out', Date.UTC(2026, 2, 29, 1, 30, 10, 123)],
  ['a summer day', Date.UTC(2026, 6, 1, 12, 0, 0, 7)]
] as const

describe.each(zones)('FAULTS 30, 31 and 32: in a process in %s', (zone) => {
  const before = process.env['TZ']
  beforeEach(() => {
    process.env['TZ'] = zone
  })
  afterEach(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })

  it.each(moments)('a due time in %s is stored and read as the same instant', async (_name, runAt) => {
    const [taskId = ''] = await arena.submit(worker.store, 1, { type: 'dated', runAt, deadlineAt: runAt + 1 })
    expect(await worker.store.get(taskId)).toMatchObject({ runAt, deadlineAt: runAt + 1 })
  })

  it('a task is created now by the database, whatever the local clock is called', async () => {
    const [taskId = ''] = await arena.submit(worker.store, 1, { type: 'dated' })
    const task = await worker.store.get(taskId)
    expect(Math.abs(Date.now() - (task?.createdAt ?? 0))).toBeLessThan(60_000)
  })
})

it('FAULTS 34: every time has microseconds, so that nothing is due early or late by a rounded second', async () => {
  const [rows] = await arena.admin.query(
    `SELECT CONCAT(table_name, '.', column_name) AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name LIKE 'taskdeck%' AND table_name <> 'taskdeck_migration'
       AND data_type IN ('datetime', 'timestamp', 'date', 'time') AND NOT (data_type = 'datetime' AND datetime_precision = 6)`
  )
  expect(rows).toEqual([])
  const [[now]] = (await arena.admin.query(
    "SELECT DATE_FORMAT(NOW(6) + INTERVAL 400000 MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ') AS at"
  )) as unknown as [[{ at: string }]]
  await worker.store.submit([newTask.parse({ type: 'soon', payload: '{}', title: 'soon', runAt: Date.parse(now.at) })])
  const early = await worker.store.claim({ workerId: worker.workerId, limit: 1, leaseMs: 60_000, types: ['soon'] })
  expect(early).toEqual([])
  expect(await worker.claim(1, ['soon'])).toHaveLength(1)
})
