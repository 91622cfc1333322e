import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir, task, temporaryFile } from './test-file.fixture.ts'

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')
const inspect = (file: string) => openSqliteStore({ file, clock: systemClock, migrationsDir, inspect: true })

/** A queue with a task, in a journal mode of its own and without our mark, as somebody may have made it. */
async function untouchedQueue(): Promise<string> {
  const file = await emptyQueue()
  const store = await openSqliteStore({ file, clock: systemClock, migrationsDir })
  await store.submit([task()])
  await store.close()
  const database = new Database(file)
  database.pragma('journal_mode = DELETE')
  database.pragma('application_id = 0')
  database.close()
  return file
}

it('a queue that is only looked at is read and not changed by a byte', async () => {
  const file = await untouchedQueue()
  const before = hashOf(file)
  const store = await inspect(file)
  expect((await store.read()).depth).toEqual([{ type: 't', state: 'QUEUED', count: 1 }])
  await store.close()
  expect(hashOf(file)).toBe(before)
})

it('a queue that is only looked at refuses to be written, and is not made', async () => {
  const file = await untouchedQueue()
  const store = await inspect(file)
  await expect(store.submit([task()])).rejects.toMatchObject({ code: 'SERVER_READ_ONLY' })
  await store.close()
  const missing = temporaryFile()
  await expect(inspect(missing)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
  expect(existsSync(missing)).toBe(false)
})
