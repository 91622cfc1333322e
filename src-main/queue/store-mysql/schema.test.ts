import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqlDatabase, SqlResult, SqlRow } from '../../kernel/index.ts'
import { ManualClock } from '../manual-clock.fixture.ts'
import { mysqlSchema } from './schema.ts'

const answer = (...rows: SqlRow[]): SqlResult => ({ rows, affectedRows: 0, insertId: '0' })

/** A server without tables. `lock` is what the session with the lock does, `statement` all others. */
function server(
  lock: (sql: string) => Promise<SqlResult>,
  statement: (sql: string) => Promise<SqlResult>
): SqlDatabase {
  return {
    flavour: 'mariadb',
    serverVersion: '10.11',
    execute: statement,
    transaction: (work) => work({ execute: lock }),
    close: () => Promise.resolve()
  }
}

describe('the lock of a migration', () => {
  let folder: string
  let clock: ManualClock
  let checks: number

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'taskdeck-schema-'))
    await writeFile(join(folder, '0001_first.sql'), 'CREATE TABLE one (id INT); CREATE TABLE two (id INT);')
    clock = new ManualClock()
    checks = 0
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** The statement that makes table `one` takes until `finish`. */
  function migrate(isHeld: () => boolean) {
    const begun = Promise.withResolvers<void>()
    const slow = Promise.withResolvers<SqlResult>()
    const made: string[] = []
    const database = server(
      (sql) => {
        if (sql.includes('GET_LOCK')) return Promise.resolve(answer({ taken: 1 }))
        if (!sql.includes('IS_USED_LOCK')) return Promise.resolve(answer())
        checks++
        return isHeld() ? Promise.resolve(answer({ held: 1 })) : Promise.reject(new Error('gone'))
      },
      (sql) => {
        if (/TABLE (one|two)/.test(sql)) made.push(sql)
        if (!sql.includes('TABLE one')) return Promise.resolve(answer())
        begun.resolve()
        return slow.promise
      }
    )
    const done = mysqlSchema({ database, clock, migrationsDir: folder }).migrate()
    return { done, made, begun: begun.promise, finish: () => slow.resolve(answer()) }
  }

  it('is kept awake while a statement takes longer than the server lets a session idle', async () => {
    const { done, made, begun, finish } = migrate(() => true)
    await begun
    const before = checks
    await clock.advance(125_000)
    expect(checks - before).toBe(4)
    finish()
    await done
    expect(made).toHaveLength(2)
  })

  it.each([
    ['while a statement runs', 30_000],
    ['between two statements', 0]
  ])('ends the migration with a reason when it is lost %s', async (_when, ms) => {
    let held = true
    const { done, made, begun, finish } = migrate(() => held)
    const outcome = expect(done).rejects.toMatchObject({ code: 'CONNECTION_LOST', kind: 'operational' })
    await begun
    held = false
    await clock.advance(ms)
    finish()
    await outcome
    expect(made).toHaveLength(1)
  })
})
