import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { SqlDatabase, SqlRunner, TaskFilter } from '../../src-main/kernel/index.ts'
import { listTasks } from '../../src-main/queue/store-mysql/list.ts'
import type { TaskPage } from '../../src-main/queue/task-store.ts'
import { tenThousand } from '../bench/numbers.ts'
import { everything, MysqlQueue, tasks } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect()
})
afterAll(() => queue.close())
beforeEach(() => database.execute('DELETE FROM taskdeck_task'))

const reader = (execute: SqlRunner['execute']): SqlDatabase => ({
  flavour: database.flavour,
  serverVersion: database.serverVersion,
  execute,
  transaction: () => Promise.reject(new Error('a list changes nothing')),
  close: () => Promise.resolve()
})
const ids = ({ rows }: TaskPage): string[] => rows.map(({ id }) => id)

describe('a filter that no index serves', () => {
  it('finds rare tasks under many others within a bounded walk', async () => {
    const store = await queue.store()
    const [old] = await store.submit(tasks(1, { owner: 'ann' }))
    // A gap of ids costs what as many rows would.
    await database.execute(
      'INSERT INTO taskdeck_task (id, type, state, priority, run_at, created_at, state_since, owner, title, ' +
        "payload_hash, payload, max_attempts, retry_policy) SELECT id + 1000000, type, state, priority, run_at, created_at, state_since, '', title, " +
        'payload_hash, payload, max_attempts, retry_policy FROM taskdeck_task'
    )
    const found: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page: TaskPage = await store.list({ ...everything, owner: 'ann' }, 10, cursor)
      found.push(...ids(page))
      cursor = page.nextCursor
      pages++
    } while (cursor !== null)
    expect(found).toEqual([old?.taskId])
    expect(pages).toBe(3)
  })
})

describe('a filter of rare states and something else', () => {
  it('finds the few that match among many, a step of ids at a time', async () => {
    await (await queue.store()).submit(tasks(1))
    await database.execute(`
      INSERT INTO taskdeck_task (type, state, priority, run_at, created_at, state_since, owner, title, payload_hash, payload,
        max_attempts, retry_policy, finished_at, error_code)
      SELECT type, CASE WHEN n % 4 = 0 THEN 'CANCELLED' ELSE 'FAILED' END, priority, run_at, created_at, state_since, owner, title,
        payload_hash, payload, max_attempts, retry_policy, run_at, CASE WHEN n IN (7, 8, 9000, 9998) THEN 'RARE' ELSE 'OTHER' END
      FROM taskdeck_task, (${tenThousand}) AS numbers WHERE state = 'QUEUED' ORDER BY n`)
    const { rows } = await database.execute("SELECT id FROM taskdeck_task WHERE error_code = 'RARE' ORDER BY id DESC")
    const rare = rows.map((row) => String(row['id']))
    let steps = 0
    const counting = reader((sql, values) => {
      if (sql.includes('OFFSET')) steps++
      return database.execute(sql, values)
    })
    const filter: TaskFilter = { ...everything, states: ['FAILED', 'CANCELLED'], errorCode: 'RARE' }
    const page = await listTasks(counting, filter, { limit: 10, cursor: null })
    expect(ids(page)).toEqual(rare)
    expect(page.nextCursor).toBeNull()
    // Two steps, with one look a state.
    expect(steps).toBe(4)
    const first = await listTasks(database, filter, { limit: 3, cursor: null })
    expect(ids(first)).toEqual(rare.slice(0, 3))
    expect(ids(await listTasks(database, filter, { limit: 3, cursor: first.nextCursor }))).toEqual(rare.slice(3))
  })

  it('ends a call after so many steps, and the next one goes on from there', async () => {
    const top = 10_000_000n
    const endless = reader((sql, values = []) => {
      const below = typeof values[1] === 'bigint' ? values[1] : top
      const rows = sql.includes('OFFSET') ? [{ id: String(below - 5_000n) }] : []
      return Promise.resolve({ rows, affectedRows: 0, insertId: '0' })
    })
    const filter: TaskFilter = { ...everything, states: ['FAILED'], errorCode: 'NONE' }
    const page = await listTasks(endless, filter, { limit: 10, cursor: null })
    expect(page).toEqual({ rows: [], nextCursor: String(top - 100_000n) })
  })
})
