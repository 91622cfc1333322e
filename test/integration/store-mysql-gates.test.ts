import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { systemClock, type SqlDatabase, type SqlRunner } from '../../src-main/kernel/index.ts'
import { lockBudgets, lockQueueGate } from '../../src-main/queue/store-mysql/gates.ts'
import { countingTrouble, MysqlQueue, type LockTrouble } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase
let other: SqlDatabase
let watching: SqlDatabase
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect()
  other = await queue.connect()
  watching = await queue.connect()
})
afterAll(() => queue.close())
beforeEach(async () => {
  for (const table of ['gate', 'policy', 'task', 'attempt']) await watching.execute(`DELETE FROM taskdeck_${table}`)
})

/** Runs `meanwhile` once, after the first statement. */
function afterFirst(runner: SqlRunner, meanwhile: () => Promise<unknown>): SqlRunner {
  let isFirst = true
  return {
    execute: async (sql, values) => {
      const result = await runner.execute(sql, values)
      if (isFirst) {
        isFirst = false
        await meanwhile()
      }
      return result
    }
  }
}

const freeGates = async (): Promise<unknown[]> => {
  const sql = 'SELECT name FROM taskdeck_gate FORCE INDEX (PRIMARY) ORDER BY name FOR UPDATE SKIP LOCKED'
  return (await watching.transaction((runner) => runner.execute(sql))).rows.map(({ name }) => name)
}

/** Sessions of this database that wait for a lock. The server renews what it tells only when nobody has asked for 100 ms. */
async function waiting(): Promise<number> {
  const { rows } = await watching.execute(`
    SELECT COUNT(*) AS n FROM information_schema.innodb_trx AS trx
    JOIN information_schema.processlist AS session ON session.id = trx.trx_mysql_thread_id
    WHERE session.db = DATABASE() AND trx.trx_state = 'LOCK WAIT'`)
  return Number(rows[0]?.['n'])
}

describe('a gate that does not exist yet', () => {
  /** Made by another process in the middle of the lock if that lets it, else after it. */
  async function made(kind: string, scope: string, name: string): Promise<{ after: Promise<unknown> }> {
    let isMade = false
    const insert = 'INSERT IGNORE INTO taskdeck_gate (kind, scope, name) VALUES (?, ?, ?)'
    const making = other.execute(insert, [kind, scope, name]).then(() => (isMade = true))
    do await systemClock.sleep(110)
    while (!isMade && (await waiting()) === 0)
    return { after: making }
  }

  it('of the queue is locked also when another process makes it meanwhile', async () => {
    let after: Promise<unknown> = Promise.resolve()
    await database.transaction(async (runner) => {
      await lockQueueGate(afterFirst(runner, async () => void ({ after } = await made('RUN', 'QUEUE', ''))))
      expect(await freeGates()).toEqual([])
    })
    await after
    expect(await freeGates()).toEqual([''])
  })

  it('of retries is locked and returned also when another process makes some of them meanwhile', async () => {
    let after: Promise<unknown> = Promise.resolve()
    await database.transaction(async (runner) => {
      const types = ['a', 'b', 'c']
      const meanwhile = async (): Promise<void> => void ({ after } = await made('RETRY', 'TYPE', 'b'))
      const locked = await lockBudgets(afterFirst(runner, meanwhile), types)
      expect([...locked.keys()].sort()).toEqual(types)
      expect(await freeGates()).toEqual([])
    })
    await after
  })

  it('and that three want at once is no deadlock', async () => {
    const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
    const waiters = [await queue.connect(), await queue.connect()]
    const others = await database.transaction(async (runner) => {
      await lockQueueGate(runner)
      const locking = waiters.map((waiter) => countingTrouble(waiter, trouble).transaction(lockQueueGate))
      do await systemClock.sleep(110)
      while ((await waiting()) < locking.length)
      return locking.map((one) => ({ one }))
    })
    await Promise.all(others.map(({ one }) => one))
    expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  })
})
