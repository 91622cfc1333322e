import { describe, expect, it } from 'vitest'
import { AppError, systemClock, type SqlDatabase, type SqlRow, type StatementOptions } from '../../kernel/index.ts'
import type { TablePlace } from '../../schema-profiles/index.ts'
import { deadlockReport } from './deadlock.fixture.ts'
import { ServerLook } from './server-look.ts'

/** Answers every statement with no rows, or as the test says. */
function server(answer: (sql: string) => unknown = () => undefined, table: TablePlace | null = null) {
  const asked: { sql: string; options: StatementOptions | undefined }[] = []
  const database: SqlDatabase = {
    flavour: 'mysql',
    serverVersion: '8.4.0',
    execute: (sql, _values, options) => {
      asked.push({ sql, options })
      return new Promise((resolve) => {
        const rows = answer(sql)
        resolve({ rows: Array.isArray(rows) ? (rows as SqlRow[]) : [], affectedRows: 0, insertId: '0' })
      })
    },
    transaction: () => Promise.reject(new Error('nothing is changed')),
    close: () => Promise.resolve()
  }
  const look = new ServerLook({ database, clock: systemClock, statements: () => [], workers: () => [], table })
  return { look, asked }
}
const denied = (errno: number): AppError =>
  new AppError('NO_RIGHTS', 'user', 'no', { details: { errno, privilege: 'PROCESS' } })

describe('a look', () => {
  it('gives each statement the signal that ends it on the server', async () => {
    const { look, asked } = server()
    const { signal } = new AbortController()
    const { statements } = await look.look(signal)
    expect(statements).toBe(asked.length)
    for (const { options } of asked) expect(options?.signal).toBe(signal)
  })

  it('begins no statement after its page has left', async () => {
    const leaver = new AbortController()
    const { look, asked } = server((sql) => sql.startsWith('SHOW GLOBAL STATUS') && leaver.abort())
    await expect(look.look(leaver.signal)).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
    expect(asked.at(-1)?.sql).toMatch(/^SHOW GLOBAL STATUS/)
  })

  it('asks a server that denies PROCESS once, not for each part that needs it', async () => {
    const { look, asked } = server((sql) => {
      if (/INNODB_TRX|INNODB STATUS|INNODB_METRICS/.test(sql)) throw denied(1227)
    })
    const health = await look.look()
    expect(asked.filter(({ sql }) => /INNODB_TRX|INNODB STATUS|INNODB_METRICS/.test(sql))).toHaveLength(1)
    for (const part of [health.waits, health.transactions, health.deadlock])
      expect(part).toMatchObject({ status: 'unknown', gap: { reason: 'rights' } })
  })

  it.each([
    ['looks deadlocked tasks up in our own tables', null, 1],
    ['looks nothing up where the table is not ours', { schema: null, name: 'jobs' }, 0]
  ])('%s', async (_what, table, lookups) => {
    const { look, asked } = server((sql) => sql.includes('INNODB STATUS') && [{ Status: deadlockReport }], table)
    const { deadlock } = await look.look()
    expect(deadlock).toMatchObject({
      status: 'known',
      value: { parties: [{ sessionId: '812' }, { sessionId: '813' }] }
    })
    expect(asked.filter(({ sql }) => sql.includes('FROM taskdeck_task'))).toHaveLength(lookups)
  })

  it('leaves the other parts alone when one statement is refused or takes too long', async () => {
    const late = new AppError('STATEMENT_TIMEOUT', 'operational', 'late', { details: { errno: 3024 } })
    const { look } = server((sql) => {
      if (sql.includes('INNODB_TRX')) throw late
    })
    const health = await look.look()
    expect(health.waits).toEqual({ status: 'unknown', gap: { reason: 'timeout', remedy: null, errno: 3024 } })
    expect(health.settings.status).toBe('known')
  })

  it('ends as a whole when the connection is lost', async () => {
    const { look } = server((sql) => {
      if (sql.includes('PROCESSLIST WHERE')) throw new AppError('CONNECTION_LOST', 'operational', 'gone')
    })
    await expect(look.look()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  })

  it('asks each version of a server for replicas in its own words', async () => {
    const { look, asked } = server()
    await look.look()
    expect(asked.map(({ sql }) => sql)).toContain('SHOW REPLICA STATUS')
  })
})
