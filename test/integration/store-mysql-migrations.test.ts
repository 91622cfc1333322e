import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { systemClock, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { mysqlSchema } from '../../src-main/queue/store-mysql/index.ts'
import { dyingAt, migrationsDir, MysqlQueue } from './store-mysql-queue.ts'

let queue: MysqlQueue
let database: SqlDatabase
let folder: string

beforeEach(async () => {
  queue = await MysqlQueue.empty(inject('mariadbUrl'))
  database = await queue.connect(4)
  folder = await mkdtemp(join(tmpdir(), 'taskdeck-migrations-'))
})
afterEach(async () => {
  await queue.close()
  await rm(folder, { recursive: true })
})

/** Statements that meet their own work on a second run: table, column and index that exist, index that is gone. */
const first = 'CREATE TABLE made (id INT PRIMARY KEY); -- the table\nCREATE TABLE other (id INT PRIMARY KEY);'
const second = `ALTER TABLE made ADD COLUMN name VARCHAR(10) NOT NULL; ALTER TABLE made ADD INDEX made_name (name);
  ALTER TABLE other ADD INDEX other_id (id); ALTER TABLE other DROP INDEX other_id;`

async function writeMigrations(): Promise<void> {
  await writeFile(join(folder, '0001_first.sql'), first)
  await writeFile(join(folder, '0002_second.sql'), second)
}

async function tables(): Promise<string[]> {
  const { rows } = await database.execute(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name'
  )
  const made: string[] = []
  for (const row of rows) {
    const shown = await database.execute(`SHOW CREATE TABLE ${String(row['name'])}`)
    made.push(String(shown.rows[0]?.['Create Table']))
  }
  return made
}

async function dropAll(): Promise<void> {
  const { rows } = await database.execute(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()'
  )
  for (const row of rows) await database.execute(`DROP TABLE ${String(row['name'])}`)
}

describe('migrations', () => {
  it('make the tables, say so, and do nothing a second time', async () => {
    const schema = mysqlSchema({ database, clock: systemClock, migrationsDir })
    expect(await schema.status()).toEqual({ status: 'missing' })
    const pending = await schema.pending()
    expect(pending[0]).toMatchObject({
      migration: '0001_queue',
      sql: expect.stringContaining('CREATE TABLE taskdeck_task') as string
    })
    await schema.migrate()
    expect(await schema.status()).toEqual({ status: 'ready', version: 1 })
    expect(await schema.pending()).toEqual([])
    await schema.migrate()
  })

  it.each(['the real ones', 'ones with every kind of statement'])(
    '%s go on after a kill between any two statements',
    async (which) => {
      if (which !== 'the real ones') await writeMigrations()
      const directory = which === 'the real ones' ? migrationsDir : folder
      await mysqlSchema({ database, clock: systemClock, migrationsDir: directory }).migrate()
      const wanted = await tables()
      let died = true
      let call = 0
      for (; died; call++) {
        await dropAll()
        const dying = dyingAt(database, call)
        const outcome = await mysqlSchema({ database: dying.database, clock: systemClock, migrationsDir: directory })
          .migrate()
          .then(
            () => 'done',
            (error: Error) => error.message
          )
        died = dying.died()
        expect(outcome).toBe(died ? 'killed' : 'done')
        await mysqlSchema({ database, clock: systemClock, migrationsDir: directory }).migrate()
        expect(await tables()).toEqual(wanted)
      }
      // Three statements a step, and the journal around them.
      expect(call).toBeGreaterThan(18)
    },
    120_000
  )

  it('are made once by two processes at the same time', async () => {
    const other = await queue.connect(2)
    await Promise.all(
      [database, other].map((one) => mysqlSchema({ database: one, clock: systemClock, migrationsDir }).migrate())
    )
    expect(await mysqlSchema({ database: other, clock: systemClock, migrationsDir }).status()).toEqual({
      status: 'ready',
      version: 1
    })
  })

  it('report a schema that is outdated, and bring it up to date', async () => {
    await writeFile(join(folder, '0001_first.sql'), first)
    await mysqlSchema({ database, clock: systemClock, migrationsDir: folder }).migrate()
    await writeMigrations()
    const schema = mysqlSchema({ database, clock: systemClock, migrationsDir: folder })
    expect(await schema.status()).toEqual({ status: 'outdated', version: 1, latest: 2 })
    expect(await schema.pending()).toHaveLength(4)
    await schema.migrate()
    expect(await schema.status()).toEqual({ status: 'ready', version: 2 })
  })

  it('leave a schema alone that a newer Taskdeck made', async () => {
    const schema = mysqlSchema({ database, clock: systemClock, migrationsDir })
    await schema.migrate()
    await database.execute(
      "INSERT INTO taskdeck_migration (version, step, name, hash, done, started_at) VALUES (9, 1, 'later', 'h', 1, NOW(6))"
    )
    expect(await schema.status()).toEqual({ status: 'newer', version: 9, latest: 1 })
    await expect(schema.migrate()).rejects.toMatchObject({ code: 'SCHEMA_NEWER', kind: 'user' })
    await expect(schema.pending()).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
  })

  it('refuse a statement that was changed after it ran, but not a new comment', async () => {
    await writeMigrations()
    const schema = mysqlSchema({ database, clock: systemClock, migrationsDir: folder })
    await schema.migrate()
    await writeFile(join(folder, '0001_first.sql'), first.replace('the table', 'other words'))
    expect(await schema.status()).toEqual({ status: 'ready', version: 2 })
    await writeFile(join(folder, '0001_first.sql'), first.replace('INT', 'BIGINT'))
    await expect(schema.status()).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
    await expect(schema.migrate()).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
  })

  it('refuse a table of the same name that someone else made', async () => {
    await database.execute('CREATE TABLE taskdeck_task (id INT PRIMARY KEY)')
    await expect(mysqlSchema({ database, clock: systemClock, migrationsDir }).migrate()).rejects.toMatchObject({
      code: 'SCHEMA_BROKEN'
    })
    expect(await mysqlSchema({ database, clock: systemClock, migrationsDir }).status()).toEqual({ status: 'missing' })
  })
})
