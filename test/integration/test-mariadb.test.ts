import mysql, { type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createTestDatabase, startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'

async function rows(url: string, ...statements: string[]): Promise<RowDataPacket[]> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 })
  try {
    let last: unknown = []
    for (const statement of statements) [last] = await connection.query(statement)
    return last as RowDataPacket[]
  } finally {
    await connection.end()
  }
}

describe('the shared test server', () => {
  it('gives every caller an empty database of its own', async () => {
    const first = await createTestDatabase(inject('mariadbUrl'))
    const second = await createTestDatabase(inject('mariadbUrl'))
    await rows(first.url, 'CREATE TABLE mark (id INT)')
    expect(first.name).not.toBe(second.name)
    expect(await rows(second.url, 'SHOW TABLES')).toEqual([])
    await first.drop()
    await second.drop()
    await expect(rows(first.url, 'SELECT 1')).rejects.toMatchObject({ errno: 1049 })
  })
})

describe('a private server', () => {
  let server: TestMariaDb
  beforeAll(async () => {
    server = await startPrivateMariaDb({ inMemory: true })
  })
  afterAll(() => server.stop())

  it('keeps port, accounts and committed rows through a kill and a restart', async () => {
    const url = await server.createDatabase('kept')
    const { port, pid } = server
    await rows(url, 'CREATE TABLE mark (id INT)', 'INSERT INTO mark VALUES (7)')

    await server.kill9()
    await expect(rows(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    await server.restart()
    expect(server.port).toBe(port)
    expect(server.pid).not.toBe(pid)
    expect(await rows(url, 'SELECT id FROM mark')).toEqual([{ id: 7 }])
  })

  it('sets how commits are flushed', async () => {
    const durable = await startPrivateMariaDb({ flushAtCommit: 1 })
    try {
      const [variable] = await rows(durable.url(), "SHOW VARIABLES LIKE 'innodb_flush_log_at_trx_commit'")
      expect(variable?.['Value']).toBe('1')
    } finally {
      await durable.stop()
      await durable.stop()
    }
  })

  it('refuses a database name that would need quoting', async () => {
    await expect(server.createDatabase('a`b')).rejects.toThrow('Not a plain database name')
  })
})
