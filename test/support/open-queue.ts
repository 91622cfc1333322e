import { join } from 'node:path'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { systemClock, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { mysqlSchema, openMysqlStore } from '../../src-main/queue/store-mysql/index.ts'
import type { TaskStore } from '../../src-main/queue/task-store.ts'

const migrationsDir = join(import.meta.dirname, '../../migrations/mysql')

export interface TestQueue {
  readonly sql: SqlDatabase
  readonly store: TaskStore
  close(): Promise<void>
}

/** A queue with its tables in the empty database behind `url`. `statementTimeoutMs` is generous for filling tables. */
export async function openTestQueue(
  url: string,
  options: { poolSize?: number; statementTimeoutMs?: number; beforeOpen?: (sql: SqlDatabase) => Promise<void> } = {}
): Promise<TestQueue> {
  const sql = await openMysql(parseMysqlUrl(url), {
    accessMode: 'read-write',
    poolSize: options.poolSize ?? 4,
    acquireTimeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 60_000,
    clock: systemClock
  })
  await mysqlSchema({ database: sql, clock: systemClock, migrationsDir }).migrate()
  await options.beforeOpen?.(sql)
  const store = await openMysqlStore({ database: sql, clock: systemClock })
  return {
    sql,
    store,
    close: async () => {
      await store.close()
      await sql.close()
    }
  }
}
