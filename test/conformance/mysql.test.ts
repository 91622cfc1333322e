import { resolve } from 'node:path'
import { inject } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { systemClock, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { mysqlSchema, openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import { createTestDatabase } from '../support/mariadb.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'
import type { ConformanceQueue } from './queue-under-test.ts'
import { describeTaskStore } from './task-store-suite.ts'

const migrationsDir = resolve(import.meta.dirname, '../../migrations/mysql')
const options = {
  accessMode: 'read-write',
  acquireTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  clock: systemClock
} as const

async function makeQueue(): Promise<ConformanceQueue> {
  const made = await createTestDatabase(inject('mariadbUrl'), 'conformance')
  const login = parseMysqlUrl(made.url)
  const direct = await openMysql(login, { ...options, poolSize: 2 })
  await mysqlSchema({ database: direct, clock: systemClock, migrationsDir }).migrate()
  return {
    open: async (clock = systemClock) => {
      const database = await openMysql(login, { ...options, poolSize: 2 })
      const store = await openMysqlStore({ database, clock })
      return closingWith(store, database)
    },
    sql: async (text) => (await direct.execute(text)).rows,
    shifted: (column, ms) => `${column} + INTERVAL ${ms * 1_000} MICROSECOND`,
    close: async () => {
      await direct.close()
      await made.drop()
    }
  }
}

/** The store leaves its database to the caller; the suite closes stores only. */
function closingWith(store: TaskStore, database: SqlDatabase): TaskStore {
  store.close = () => database.close()
  return store
}

describeTaskStore('MySQL', makeQueue)
