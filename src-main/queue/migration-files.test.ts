import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashStatement, readMigrations, splitStatements } from './migration-files.ts'

describe('splitStatements', () => {
  it('splits at semicolons outside of quotes, names and comments', () => {
    const text = "-- one; two\nSELECT 'a;b', \"c;d\", `e;f` /* g;h */;\n\nSELECT 'it''s;', 'x\\';';-- end;\n"
    expect(splitStatements(text)).toEqual([
      '-- one; two\nSELECT \'a;b\', "c;d", `e;f` /* g;h */',
      "SELECT 'it''s;', 'x\\';'"
    ])
  })
})

describe('hashStatement', () => {
  it('follows the statement and not its comments or line breaks', () => {
    expect(hashStatement('SELECT 1 -- why')).toBe(hashStatement('-- because\nSELECT\n  1'))
    expect(hashStatement('SELECT 1')).not.toBe(hashStatement('SELECT 2'))
    expect(hashStatement("SELECT '--a'")).not.toBe(hashStatement("SELECT '--b'"))
  })
})

describe('readMigrations', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'migrations-'))))
  afterEach(() => rm(directory, { recursive: true }))

  it('reads numbered files in order', async () => {
    await writeFile(join(directory, '0002_b.sql'), 'SELECT 2;')
    await writeFile(join(directory, '0001_a.sql'), 'SELECT 1; SELECT 11')
    await writeFile(join(directory, 'README.md'), 'no migration')
    const migrations = await readMigrations(directory)
    expect(migrations.map((m) => [m.version, m.name, m.steps.map((s) => s.sql)])).toEqual([
      [1, '0001_a', ['SELECT 1', 'SELECT 11']],
      [2, '0002_b', ['SELECT 2']]
    ])
  })

  it('refuses a gap and a missing directory', async () => {
    await writeFile(join(directory, '0002_b.sql'), 'SELECT 2')
    await expect(readMigrations(directory)).rejects.toMatchObject({ code: 'SCHEMA_BROKEN' })
    await expect(readMigrations(join(directory, 'none'))).rejects.toMatchObject({ code: 'FILE_UNAVAILABLE' })
  })
})
