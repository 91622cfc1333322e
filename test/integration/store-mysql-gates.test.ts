import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { systemClock, type SqlDatabase, type SqlRunner } from '../../src-main/kernel/index.ts'
import { lockBudgets, lockQueueGate } from '../../src-main/queue/store-mysql/gates.ts'
import { countingTrouble, MysqlQueue, type LockTrouble } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase
let watching: SqlDatabase
beforeAll(async () => {
  queue = await MysqlQueue.migrated(inject('mariadbUrl'))
  database = await queue.connect()
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

/** Until so many sessions of this database wait for a lock. The server renews what it tells only when nobody has asked for 100 ms. */
async function thatManyWait(many: number): Promise<void> {
  const waiting = `
    SELECT COUNT(*) AS n FROM information_schema.innodb_trx AS trx
    JOIN information_schema.processlist AS session ON session.id = trx.trx_mysql_thread_id
    WHERE session.db = DATABASE() AND trx.trx_state = 'LOCK WAIT'`
  do await systemClock.sleep(110)
  while (Number((await watching.execute(waiting)).rows[0]?.['n']) < many)
}

describe('a gate that does not exist yet', () => {
  const addGate = (kind: string, scope: string, name: string): Promise<unknown> =>
    watching.execute('INSERT INTO taskdeck_gate (kind, scope, name) VALUES (?, ?, ?)', [kind, scope, name])

  it('of the queue is locked also when another process makes it between the look and the insert', async () => {
    await database.transaction(async (runner) => {
      await lockQueueGate(afterFirst(runner, () => addGate('RUN', 'QUEUE', '')))
      expect(await freeGates()).toEqual([])
    })
    expect(await freeGates()).toEqual([''])
  })

  it('of retries is locked and returned also when another process makes some in between', async () => {
    await database.transaction(async (runner) => {
      const types = ['a', 'b', 'c']
      const locked = await lockBudgets(
        afterFirst(runner, () => addGate('RETRY', 'TYPE', 'b')),
        types
      )
      expect([...locked.keys()].sort()).toEqual(types)
      expect(await freeGates()).toEqual([])
    })
  })

  it('and that three want at once is no deadlock', async () => {
    const trouble: LockTrouble = { deadlocks: 0, lockTimeouts: 0 }
    const waiters = [await queue.connect(), await queue.connect()]
    const isMade = Promise.withResolvers<void>()
    const looked = waiters.map(() => Promise.withResolvers<void>())
    const others = waiters.map((waiter, index) =>
      countingTrouble(waiter, trouble).transaction((runner) =>
        lockQueueGate(
          afterFirst(runner, () => {
            looked[index]?.resolve()
            return isMade.promise
          })
        )
      )
    )
    await Promise.all(looked.map(({ promise }) => promise))
    await database.transaction(async (runner) => {
      await lockQueueGate(runner)
      isMade.resolve()
      await thatManyWait(2)
    })
    await Promise.all(others)
    expect(trouble).toEqual({ deadlocks: 0, lockTimeouts: 0 })
  })
})
