import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { systemClock } from '../../src-main/kernel/index.ts'
import { openSqliteStore, sqliteSchema } from '../../src-main/queue/store-sqlite/index.ts'
import type { ConformanceQueue } from './queue-under-test.ts'
import { describeTaskStore } from './task-store-suite.ts'

const migrationsDir = resolve(import.meta.dirname, '../../migrations/sqlite')

async function makeQueue(): Promise<ConformanceQueue> {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-sqlite-'))
  const file = join(folder, 'queue.db')
  await sqliteSchema({ file, clock: systemClock, migrationsDir }).migrate()
  const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
  const direct = new Database(file, nativeBinding ? { nativeBinding } : {})
  return {
    open: (clock = systemClock) => openSqliteStore({ file, clock, migrationsDir }),
    sql: (text) => {
      const statement = direct.prepare<[], Record<string, unknown>>(text)
      if (statement.reader) return Promise.resolve(statement.all())
      statement.run()
      return Promise.resolve([])
    },
    shifted: (column, ms) => `${column} + ${ms * 1_000}`,
    close: () => {
      direct.close()
      rmSync(folder, { recursive: true, force: true })
      return Promise.resolve()
    }
  }
}

describeTaskStore('SQLite', makeQueue)
