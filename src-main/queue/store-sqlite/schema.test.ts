import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/index.ts'
import { applicationIdOf, queueApplicationId } from './file-identity.ts'
import { openSqliteRowSink } from './row-sink.ts'
import { sqliteSchema } from './schema.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { emptyQueue, migrationsDir, temporaryFile } from './test-file.fixture.ts'

const nativeBinding = process.env['SQLITE_NATIVE_BINDING']
const open = (file: string): Database.Database => new Database(file, nativeBinding ? { nativeBinding } : {})
const schemaOf = (file: string, directory = migrationsDir) =>
  sqliteSchema({ file, clock: systemClock, migrationsDir: directory })
const storeOf = (file: string) => openSqliteStore({ file, clock: systemClock, migrationsDir })

/** The project's migrations and one more. */
function withSecondMigration(file: string, sql: string): string {
  const directory = join(dirname(file), 'migrations')
  mkdirSync(directory)
  cpSync(migrationsDir, directory, { recursive: true })
  writeFileSync(join(directory, '0002_more.sql'), sql)
  return directory
}

function change(file: string, sql: string): void {
  const database = open(file)
  database.exec(sql)
  database.close()
}

function idOf(file: string): number {
  const database = open(file)
  try {
    return applicationIdOf(database)
  } finally {
    database.close()
  }
}

function tablesOf(file: string): string[] {
  const database = open(file)
  try {
    return database
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_schema`)
      .all()
      .map((row) => row.name)
  } finally {
    database.close()
  }
}

describe('the schema of a queue file', () => {
  it('is missing where there is no file, and looking makes none', async () => {
    const file = temporaryFile()
    expect(await schemaOf(file).status()).toEqual({ status: 'missing' })
    expect((await schemaOf(file).pending())[0]).toMatchObject({ migration: '0001_queue' })
    await expect(storeOf(file)).rejects.toMatchObject({ code: 'SCHEMA_MISSING', kind: 'user' })
    expect(() => readFileSync(file)).toThrow('ENOENT')
  })

  it('is ready after its migrations, and running them again changes nothing', async () => {
    const file = temporaryFile()
    await schemaOf(file).migrate()
    await schemaOf(file).migrate()
    expect(await schemaOf(file).status()).toEqual({ status: 'ready', version: 1 })
    expect(await schemaOf(file).pending()).toEqual([])
    await (await storeOf(file)).close()
  })

  it('is made once when several migrate at the same time', async () => {
    const file = temporaryFile()
    await Promise.all(Array.from({ length: 4 }, () => schemaOf(file).migrate()))
    expect(await schemaOf(file).status()).toEqual({ status: 'ready', version: 1 })
  })

  it('is outdated until a later migration has run', async () => {
    const file = await emptyQueue()
    const directory = withSecondMigration(file, 'CREATE TABLE taskdeck_more (a INTEGER);')
    expect(await schemaOf(file, directory).status()).toEqual({ status: 'outdated', version: 1, latest: 2 })
    const late = openSqliteStore({ file, clock: systemClock, migrationsDir: directory })
    await expect(late).rejects.toMatchObject({
      ...{ code: 'SCHEMA_OUTDATED', kind: 'user' },
      details: { version: 1, latest: 2 }
    })
    expect(await schemaOf(file, directory).pending()).toEqual([
      { migration: '0002_more', sql: 'CREATE TABLE taskdeck_more (a INTEGER)' }
    ])
    await schemaOf(file, directory).migrate()
    expect(tablesOf(file)).toContain('taskdeck_more')
  })

  it('of a newer Taskdeck is refused by everything that would write', async () => {
    const file = await emptyQueue()
    await schemaOf(file, withSecondMigration(file, 'CREATE TABLE taskdeck_more (a INTEGER);')).migrate()
    expect(await schemaOf(file).status()).toEqual({ status: 'newer', version: 2, latest: 1 })
    await expect(storeOf(file)).rejects.toMatchObject({ code: 'SCHEMA_NEWER', kind: 'user' })
    await expect(schemaOf(file).migrate()).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
    await expect(schemaOf(file).pending()).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
  })

  it('stays as it was when a migration fails half-way', async () => {
    const file = await emptyQueue()
    const directory = withSecondMigration(
      file,
      'CREATE TABLE taskdeck_more (a INTEGER); CREATE TABLE taskdeck_task (a);'
    )
    await expect(schemaOf(file, directory).migrate()).rejects.toMatchObject({ code: 'SQL_FAILED' })
    expect(tablesOf(file)).not.toContain('taskdeck_more')
    expect(await schemaOf(file, directory).status()).toMatchObject({ status: 'outdated', version: 1 })
  })

  it('is broken when it was made by another text of a migration', async () => {
    const file = await emptyQueue()
    const database = open(file)
    database.exec("UPDATE taskdeck_migration SET hash = 'other'")
    database.close()
    await expect(schemaOf(file).status()).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
    await expect(storeOf(file)).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
  })

  it('is broken when its tables have no journal', async () => {
    const file = await emptyQueue()
    const database = open(file)
    database.exec('DROP TABLE taskdeck_migration')
    database.close()
    await expect(schemaOf(file).status()).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
  })

  it.each([
    ['without an id', 'CREATE TABLE theirs (a)'],
    ['with its id', 'CREATE TABLE theirs (a); PRAGMA application_id = 252006674'],
    ['with its id and nothing else yet', 'PRAGMA application_id = 252006674'],
    ['that stores no table but a view', 'CREATE VIEW theirs AS SELECT 1']
  ])("refuses another program's file %s, says what to do, and changes nothing", async (_what, sql) => {
    const file = temporaryFile()
    change(file, sql)
    const before = readFileSync(file)
    const schema = schemaOf(file)
    const uses = [() => schema.status(), () => schema.pending(), () => schema.migrate(), () => storeOf(file)]
    for (const use of [...uses, () => openSqliteRowSink({ file, clock: systemClock })]) {
      await expect(use()).rejects.toMatchObject({
        code: 'SCHEMA_BROKEN',
        message: `${file} belongs to another program and was left as it is. Move it away, or keep the queue under another name.`
      })
    }
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(dirname(file))).toEqual([basename(file)])
  })

  it('marks its file as a queue', async () => {
    expect(idOf(await emptyQueue())).toBe(queueApplicationId)
  })

  it.each([
    ['a store', storeOf],
    ['the migrations', (file: string) => schemaOf(file).migrate()]
  ])('marks a file of ours from before there were marks when it is opened for %s', async (_what, use) => {
    const file = await emptyQueue()
    change(file, 'PRAGMA application_id = 0')
    expect(await schemaOf(file).status()).toMatchObject({ status: 'ready' })
    expect(idOf(file)).toBe(0)
    const opened = await use(file)
    await opened?.close()
    expect(idOf(file)).toBe(queueApplicationId)
  })

  it("leaves another program's mark in a file that has our tables beside its own", async () => {
    const file = await emptyQueue()
    change(file, 'CREATE TABLE theirs (a); PRAGMA application_id = 252006674')
    await schemaOf(file).migrate()
    await (await storeOf(file)).close()
    expect(idOf(file)).toBe(252_006_674)
  })
})
