import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import mysql, { type Connection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { openMysql, parseMysqlUrl, type MysqlLogin, type MysqlOptions } from '../../src-main/connections/index.ts'
import { AppError, systemClock, type SqlDatabase, type SqlRunner } from '../../src-main/kernel/index.ts'
import { createTestDatabase, type TestDatabase } from '../support/mariadb.ts'
import { TcpLink } from './connections-link.ts'

const options: MysqlOptions = {
  accessMode: 'read-write',
  poolSize: 3,
  acquireTimeoutMs: 2_000,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 4_000,
  clock: systemClock
}

let database: TestDatabase
/** The server's own account, which other files use too. */
let owner: MysqlLogin
/** This file's account: each session on the server under it, or under another one of this file, was opened here. */
let login: MysqlLogin
let admin: SqlDatabase
/** Looks at the server from outside, also while `admin` is inside of a transaction. */
let watcher: SqlDatabase
const users: string[] = []

beforeAll(async () => {
  database = await createTestDatabase(inject('mariadbUrl'), 'connections')
  owner = parseMysqlUrl(database.url)
  login = await account(`ALL ON ${database.name}.*`)
  admin = await openMysql(login, options)
  watcher = await openMysql(owner, { ...options, poolSize: 1 })
  await admin.execute(
    'CREATE TABLE item (id BIGINT UNSIGNED PRIMARY KEY, note VARCHAR(100) NOT NULL DEFAULT "") ENGINE=InnoDB'
  )
  await admin.execute('INSERT INTO item (id) VALUES (1), (2), (3)')
})

afterAll(async () => {
  for (const user of users) await watcher.execute(`DROP USER IF EXISTS ${user}`)
  await watcher.close()
  await admin.close()
  await database.drop()
})

const accountPrefix = (): string => `taskdeck_${database.name.slice(-8)}_`

/** A new account of this file with these grants. */
async function account(grants: string | null, resources = ''): Promise<MysqlLogin> {
  const user = `${accountPrefix()}${users.length}`
  users.push(`'${user}'@'127.0.0.1'`)
  const connection = await stranger(owner)
  await connection.query(`CREATE USER '${user}'@'127.0.0.1' IDENTIFIED BY 'pw' ${resources}`)
  if (grants) await connection.query(`GRANT ${grants} TO '${user}'@'127.0.0.1'`)
  await connection.end()
  return { ...owner, user, password: 'pw' }
}

const problemOf = async (work: Promise<unknown>): Promise<AppError> => {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (caught: unknown) => caught
  )
  if (error instanceof AppError) return error
  throw error
}

const codeOf = async (work: Promise<unknown>): Promise<string> => (await problemOf(work)).code

/** Opens for one test and closes at its end; a connection that is left on the server fails the test. */
async function using<T>(
  settings: MysqlLogin,
  more: Partial<MysqlOptions>,
  work: (open: SqlDatabase) => Promise<T>
): Promise<T> {
  const before = await connectionCount()
  const open = await openMysql(settings, { ...options, ...more })
  try {
    return await work(open)
  } finally {
    await open.close()
    await expect.poll(connectionCount, { timeout: 5_000 }).toBeLessThanOrEqual(before)
  }
}

/**
 * Of this file's accounts: other files use the same server at the same time. A session without a database counts too, as one is until its
 * login has ended.
 */
async function connectionCount(): Promise<number> {
  const prefix = accountPrefix()
  const { rows } = await watcher.execute(
    'SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE LEFT(USER, ?) = ?',
    [prefix.length, prefix]
  )
  return Number(rows[0]?.['n'])
}

async function running(fragment: string): Promise<string | undefined> {
  const { rows } = await watcher.execute(
    'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE INFO LIKE ? AND ID <> CONNECTION_ID()',
    [`%${fragment}%`]
  )
  return rows[0] && String(rows[0]['id'])
}

/** Another program's connection, for what is not allowed on a shared session. */
const stranger = ({ host, port, user, password, database } = login): Promise<Connection> =>
  mysql.createConnection({ host, port, user, password, database })

async function kill(id: string): Promise<void> {
  const connection = await stranger()
  await connection.query(`KILL ${Number(id)}`)
  await connection.end()
}

describe('values', () => {
  it('keeps every BIGINT, DECIMAL, JSON and time exact, in UTC', async () => {
    const { rows } = await admin.execute(
      `SELECT CAST(? AS UNSIGNED) AS id, CAST('1.10' AS DECIMAL(10,2)) AS price,
              CAST('2026-03-29 02:30:00.123456' AS DATETIME(6)) AS at, @@time_zone AS zone, COUNT(*) AS n FROM item`,
      [18446744073709551615n]
    )
    expect(rows).toEqual([
      { id: '18446744073709551615', price: '1.10', at: '2026-03-29 02:30:00.123456', zone: '+00:00', n: '3' }
    ])
  })

  it('binds integers as integers, so that they stand in LIMIT and stay exact in sums', async () => {
    const { rows } = await admin.execute(
      'SELECT ? + 1 AS sum FROM item ORDER BY id LIMIT ? OFFSET ?',
      [9007199254740991, 1, 1]
    )
    expect(rows).toEqual([{ sum: '9007199254740992' }])
  })

  it('counts rows that matched, not rows that changed', async () => {
    expect((await admin.execute('UPDATE item SET note = note WHERE id IN (?, ?)', ['1', '2'])).affectedRows).toBe(2)
  })

  it('binds text that would end a string under NO_BACKSLASH_ESCAPES as a value', async () => {
    expect((await admin.execute('SELECT id FROM item WHERE note = ?', ["\\' OR 1=1 -- "])).rows).toEqual([])
  })
})

describe('reaching a server', () => {
  it('tells a wrong password, an unknown database, missing rights and a closed port apart', async () => {
    const nobody = await account(null)
    const { port } = await closedPort()
    expect(await codeOf(openMysql({ ...login, password: 'wrong' }, options))).toBe('LOGIN_REFUSED')
    expect(await codeOf(openMysql({ ...owner, database: 'taskdeck_no_such' }, options))).toBe('DATABASE_UNKNOWN')
    expect(await codeOf(openMysql(nobody, options))).toBe('NO_RIGHTS')
    expect(await codeOf(openMysql({ ...login, port }, options))).toBe('CONNECTION_REFUSED')
    expect(await codeOf(openMysql({ ...login, host: 'taskdeck.invalid' }, options))).toBe('HOST_UNKNOWN')
  })

  it('gives up on a server that accepts and says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const problem = await problemOf(openMysql({ ...login, port }, { ...options, connectTimeoutMs: 100 }))
    expect([problem.code, problem.message]).toEqual([
      'CONNECT_TIMEOUT',
      expect.stringMatching(/says nothing for 0.1 s/)
    ])
    silent.close()
  })

  it.each(['host', 'user', 'database'])(
    'refuses a %s with a character that cannot be seen, and names it',
    async (field) => {
      const problem = await problemOf(openMysql({ ...login, [field]: 'a\0b' }, options))
      expect(problem).toMatchObject({ code: 'INVALID_INPUT', kind: 'user', details: { field } })
    }
  )

  it('says that the account has no connection left', async () => {
    const limited = await account(`SELECT ON ${database.name}.*`, 'WITH MAX_USER_CONNECTIONS 1')
    await using(limited, { poolSize: 1 }, async () => {
      expect(await codeOf(openMysql(limited, options))).toBe('TOO_MANY_CONNECTIONS')
    })
  })

  it('never repeats the password in an error', async () => {
    const problem = await problemOf(openMysql({ ...login, password: 'canary-4711' }, options))
    expect(JSON.stringify([problem.message, problem.details, problem.stack, String(problem.cause)])).not.toContain(
      'canary'
    )
  })
})

describe('statements', () => {
  it('tells a missing right, a missing table and a duplicate key apart', async () => {
    const reader = await account(`SELECT ON ${database.name}.item`)
    await using(reader, {}, async (open) => {
      const refusal = await problemOf(open.execute('INSERT INTO item (id) VALUES (9)'))
      expect(refusal).toMatchObject({ code: 'NO_RIGHTS', details: { errno: 1142, privilege: 'INSERT' } })
    })
    expect(await codeOf(admin.execute('SELECT 1 FROM no_such_table'))).toBe('SCHEMA_MISSING')
    const duplicate = await problemOf(admin.execute('INSERT INTO item (id) VALUES (1)'))
    expect([duplicate.code, duplicate.details['errno']]).toEqual(['SQL_FAILED', 1062])
  })

  it('is stopped by the server at the time limit, and the connection goes on', async () => {
    await using(login, { poolSize: 1, statementTimeoutMs: 300 }, async (open) => {
      const [first] = (await open.execute('SELECT CONNECTION_ID() AS id')).rows
      expect(await codeOf(open.execute('SELECT SLEEP(20)'))).toBe('STATEMENT_TIMEOUT')
      expect((await open.execute('SELECT CONNECTION_ID() AS id')).rows).toEqual([first])
    })
  })

  it('reports a killed connection as lost and opens another', async () => {
    await using(login, { poolSize: 1 }, async (open) => {
      const lost = codeOf(open.execute('SELECT SLEEP(20) AS to_be_killed'))
      await expect.poll(() => running('to_be_killed'), { timeout: 5_000 }).toBeTruthy()
      await kill((await running('to_be_killed')) ?? '')
      expect(await lost).toBe('CONNECTION_LOST')
      expect((await open.execute('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    })
  })

  it('waits for a free connection no longer than told', async () => {
    await using(login, { poolSize: 1, acquireTimeoutMs: 100 }, async (open) => {
      const slow = open.execute('SELECT SLEEP(0.6)')
      expect(await codeOf(open.execute('SELECT 1'))).toBe('POOL_EXHAUSTED')
      await slow
      expect((await open.execute('SELECT 1 AS one')).rows).toHaveLength(1)
    })
  })
})

describe('read-only', () => {
  it('refuses writing in the code, and again in the session', async () => {
    await using(login, { accessMode: 'read-only' }, async (open) => {
      expect(await codeOf(open.execute('UPDATE item SET note = ?', ['x']))).toBe('READ_ONLY')
      expect(await codeOf(open.transaction((runner) => runner.execute('DELETE FROM item')))).toBe('READ_ONLY')
      expect((await open.execute('SELECT @@tx_read_only AS ro')).rows).toEqual([{ ro: '1' }])
      expect((await open.transaction((runner) => runner.execute('SELECT COUNT(*) AS n FROM item'))).rows).toEqual([
        { n: '3' }
      ])
    })
  })
})

describe('transactions', () => {
  it('rolls back what failed and leaves nothing behind for the next user', async () => {
    await using(login, { poolSize: 1 }, async (open) => {
      const failed = open.transaction(async (runner) => {
        await runner.execute('UPDATE item SET note = ? WHERE id = 1', ['half'])
        throw new Error('my own')
      })
      await expect(failed).rejects.toThrow('my own')
      expect((await open.execute('SELECT note, @@in_transaction AS open FROM item WHERE id = 1')).rows).toEqual([
        { note: '', open: '0' }
      ])
    })
  })

  it('take turns on one session with statements that commit by themselves, in both directions', async () => {
    await using(login, { poolSize: 1 }, async (open) => {
      const note = 'turns'
      const seen = async (): Promise<number> =>
        (await admin.execute('SELECT id FROM item WHERE note = ?', [note])).rows.length
      const write = (runner: SqlRunner, id: number): Promise<unknown> =>
        runner.execute('UPDATE item SET note = ? WHERE id = ?', [note, id])
      for (let round = 0; round < 2; round += 1) {
        await open.transaction((runner) => write(runner, 1))
        expect(await seen()).toBe(1)
        await write(open, 2)
        expect(await seen()).toBe(2)
        const undone = open.transaction(async (runner) => {
          await write(runner, 3)
          throw new Error('undo')
        })
        await expect(undone).rejects.toThrow('undo')
        expect(await seen()).toBe(2)
        await open.execute("UPDATE item SET note = ''")
      }
      const { rows } = await open.transaction((runner) => runner.execute('SELECT CONNECTION_ID() AS id FROM item'))
      const left = 'SELECT trx_id FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = ?'
      expect((await watcher.execute(left, [rows[0]?.['id'] ?? null])).rows).toEqual([])
    })
  })

  it('runs a deadlocked transaction again as a whole', async () => {
    let runs = 0
    let bothHold: () => void = () => undefined
    const meeting = new Promise<void>((resolve) => (bothHold = resolve))
    let holders = 0
    const step = (first: number, second: number) => (runner: { execute: SqlDatabase['execute'] }) =>
      (async () => {
        runs += 1
        await runner.execute('UPDATE item SET note = CONCAT(note, ?) WHERE id = ?', ['d', first])
        if (++holders === 2) bothHold()
        await meeting
        await runner.execute('UPDATE item SET note = CONCAT(note, ?) WHERE id = ?', ['d', second])
      })()
    await Promise.all([admin.transaction(step(1, 2)), admin.transaction(step(2, 1))])
    expect(runs).toBe(3)
    const { rows } = await admin.execute('SELECT note FROM item WHERE id IN (1, 2)')
    expect(rows).toEqual([{ note: 'dd' }, { note: 'dd' }])
    await admin.execute('UPDATE item SET note = ?', [''])
  })

  it('gives up a deadlock after its retries, also when the work hid it, and commits nothing of it', async () => {
    const other = await stranger()
    onTestFinished(() => other.end())
    await other.query('START TRANSACTION')
    // The heavier one: InnoDB rolls back the transaction that changed less.
    await other.query('UPDATE item SET note = "theirs" WHERE id IN (2, 3)')
    const work = admin.transaction(
      async (runner) => {
        await runner.execute('UPDATE item SET note = ? WHERE id = 1', ['mine'])
        const blocked = other.query('UPDATE item SET note = "also theirs" WHERE id = 1')
        await expect.poll(() => running('also theirs')).toBeTruthy()
        await runner.execute('UPDATE item SET note = ? WHERE id = 2', ['mine']).catch(() => undefined)
        await runner.execute('INSERT INTO item (id) VALUES (77)').catch(() => undefined)
        await blocked
      },
      { retries: 0 }
    )
    expect(await codeOf(work)).toBe('DEADLOCK')
    await other.query('ROLLBACK')
    expect((await admin.execute("SELECT id FROM item WHERE id = 77 OR note = 'mine'")).rows).toEqual([])
  })

  it('reports a lock that stays held, after rolling back the whole (FAULTS 11)', async () => {
    await using(login, { statementTimeoutMs: 2_000 }, async (open) => {
      let release: () => void = () => undefined
      const released = new Promise<void>((resolve) => (release = resolve))
      let holding: () => void = () => undefined
      const held = new Promise<void>((resolve) => (holding = resolve))
      const holder = admin.transaction(async (runner) => {
        await runner.execute('SELECT id FROM item WHERE id = 3 FOR UPDATE')
        holding()
        await released
      })
      await held
      const waiting = open.transaction(
        async (runner) => {
          await runner.execute('UPDATE item SET note = ? WHERE id = 2', ['undone'])
          await runner.execute('UPDATE item SET note = ? WHERE id = 3', ['undone'])
        },
        { retries: 0 }
      )
      expect(await codeOf(waiting)).toBe('LOCK_TIMEOUT')
      release()
      await holder
      expect((await open.execute('SELECT id FROM item WHERE note = ?', ['undone'])).rows).toEqual([])
    })
  })

  it('refuses a second connection and late statements', async () => {
    let escaped: SqlDatabase['execute'] | undefined
    expect(await codeOf(admin.transaction(() => admin.execute('SELECT 1')))).toBe('BUG')
    await admin.transaction(async (runner) => {
      escaped = (sql) => runner.execute(sql)
      await runner.execute('SELECT 1')
    })
    expect(await codeOf(escaped!('SELECT 1'))).toBe('BUG')
  })
})

describe('a bad link', () => {
  const throughLink = async (
    work: (open: SqlDatabase, link: TcpLink) => Promise<void>,
    more: Partial<MysqlOptions> = {}
  ) => {
    const link = await TcpLink.to(login)
    try {
      await using({ ...login, port: link.port }, { poolSize: 1, ...more }, (open) => work(open, link))
    } finally {
      await link.close()
    }
  }
  const put = (open: SqlDatabase, id: number, readBack: boolean): Promise<number> => {
    let runs = 0
    return open.transaction(
      async (runner) => {
        runs += 1
        await runner.execute('INSERT INTO item (id) VALUES (?)', [id])
        return runs
      },
      readBack
        ? {
            readBack: async (runner) =>
              (await runner.execute('SELECT id FROM item WHERE id = ?', [id])).rows.length > 0 ? -1 : undefined
          }
        : {}
    )
  }

  it('finds a commit whose reply was lost by reading back', async () => {
    await throughLink(async (open, link) => {
      link.loseReplyTo = 'COMMIT'
      expect(await put(open, 100, true)).toBe(-1)
    })
  })

  it('runs the transaction again when the commit did not arrive', async () => {
    await throughLink(async (open, link) => {
      link.loseRequest = 'COMMIT'
      expect(await put(open, 101, true)).toBe(2)
      expect((await open.execute('SELECT id FROM item WHERE id = 101')).rows).toHaveLength(1)
    })
  })

  it('says that the outcome is unknown when nobody can tell', async () => {
    await throughLink(async (open, link) => {
      link.loseReplyTo = 'COMMIT'
      expect(await codeOf(put(open, 102, false))).toBe('COMMIT_UNKNOWN')
    })
  })

  it('gives up on a silent link, ends the statement on the server, and goes on over a new one', async () => {
    await throughLink(
      async (open, link) => {
        let asked: () => void = () => undefined
        const inside = new Promise<void>((resolve) => (asked = resolve))
        const stuck = open.transaction(async (runner) => {
          await runner.execute('UPDATE item SET note = ? WHERE id = 1', ['stuck'])
          asked()
          link.pause()
          await runner.execute('SELECT 1 AS never_answered')
        })
        await inside
        const problem = await problemOf(stuck)
        expect([problem.code, problem.details['outcome']]).toEqual(['STATEMENT_TIMEOUT', 'unknown'])
        link.acceptAgain()
        // The lock of the lost transaction is free only when its connection was ended.
        await expect
          .poll(() => open.execute('UPDATE item SET note = ? WHERE id = 1', ['free']).then(() => 'ok', codeOfError), {
            timeout: 10_000
          })
          .toBe('ok')
      },
      { statementTimeoutMs: 500, connectTimeoutMs: 500 }
    )
  })

  it('drops a cut connection and opens another', async () => {
    await throughLink(async (open, link) => {
      await open.execute('SELECT 1')
      link.cut()
      await expect.poll(() => open.execute('SELECT 1').then(() => 'ok', codeOfError)).toBe('ok')
      expect(link.connections).toBe(2)
    })
  })
})

const codeOfError = (error: unknown): string => (error instanceof AppError ? error.code : String(error))

async function closedPort(): Promise<{ port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { port }
}
