import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { openMysql, parseMysqlUrl } from '../../src-main/connections/index.ts'
import { AppError, systemClock, type SqlDatabase } from '../../src-main/kernel/index.ts'
import { createTestDatabase, type TestDatabase } from '../support/mariadb.ts'
import { TcpProxy, type Strike } from './tcp-proxy.ts'

/* A proxy that cuts nothing would make every fault run green. Behind this one is a real server, before it a session as the engine has them. */

const soonMs = 20_000
let made: TestDatabase
let direct: SqlDatabase
let proxy: TcpProxy
let linked: SqlDatabase

const open = (login: ReturnType<typeof parseMysqlUrl>): Promise<SqlDatabase> =>
  openMysql(login, {
    accessMode: 'read-write',
    poolSize: 1,
    acquireTimeoutMs: soonMs,
    connectTimeoutMs: soonMs,
    statementTimeoutMs: soonMs,
    clock: systemClock
  })

beforeAll(async () => {
  made = await createTestDatabase(inject('mariadbUrl'), 'proxy')
  direct = await open(parseMysqlUrl(made.url))
  await direct.execute('CREATE TABLE item (id INT PRIMARY KEY) ENGINE = InnoDB')
})
beforeEach(async () => {
  await direct.execute('DELETE FROM item')
  const login = parseMysqlUrl(made.url)
  proxy = await TcpProxy.to(login)
  linked = await open({ ...login, port: proxy.port })
})
afterEach(async () => {
  await linked.close()
  await proxy.close()
})
afterAll(async () => {
  await direct.close()
  await made.drop()
})

/** What became of a transaction of one row that is not tried again. */
const put = (id: number): Promise<string> =>
  linked
    .transaction((runner) => runner.execute('INSERT INTO item VALUES (?)', [id]), { retries: 0 })
    .then(
      () => 'done',
      (error: unknown) => (error instanceof AppError ? error.code : String(error))
    )
const stored = async (): Promise<unknown[]> => (await direct.execute('SELECT id FROM item')).rows.map(({ id }) => id)

/** The strike begins to wait before the transaction does. */
async function putUnder(strike: Strike): Promise<{ struck: boolean; answer: string }> {
  const struck = proxy.strike(strike, soonMs)
  const answer = await put(1)
  return { struck: await struck, answer }
}

it('strikes the reply to a COMMIT: the row is stored, and who asked does not know', async () => {
  expect(await putUnder('lost-commit-reply')).toEqual({ struck: true, answer: 'COMMIT_UNKNOWN' })
  expect(await stored()).toEqual([1])
})

it.each(['lost-reply', 'half-request'] as const)('strikes a statement by %s: nothing is stored', async (strike) => {
  expect(await putUnder(strike)).toEqual({ struck: true, answer: 'CONNECTION_LOST' })
  expect(await stored()).toEqual([])
})

it.each(['reset', 'end'] as const)('strikes every open link by %s, inside of a transaction too', async (strike) => {
  let struck = false
  const cut = linked.transaction(
    async (runner) => {
      await runner.execute('INSERT INTO item VALUES (1)')
      struck = await proxy.strike(strike, soonMs)
      await runner.execute('INSERT INTO item VALUES (2)')
    },
    { retries: 0 }
  )
  await expect(cut).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  expect(struck).toBe(true)
  expect(await stored()).toEqual([])
})

it('strikes by one cut after the other when two wait at a time, and one that is given up takes no other with it', async () => {
  expect(await proxy.strike('lost-commit-reply', 0)).toBe(false)
  const first = proxy.strike('lost-commit-reply', soonMs)
  expect(await proxy.strike('lost-commit-reply', 0)).toBe(false)
  const second = proxy.strike('half-request', soonMs)
  expect(await put(1)).toBe('CONNECTION_LOST')
  expect(await second).toBe(true)
  expect(await put(2)).toBe('COMMIT_UNKNOWN')
  expect(await first).toBe(true)
  expect(await stored()).toEqual([2])
})

it('strikes nothing where there is no link', async () => {
  const unused = await TcpProxy.to(parseMysqlUrl(made.url))
  expect(await unused.strike('reset', 10)).toBe(false)
  await unused.close()
})
