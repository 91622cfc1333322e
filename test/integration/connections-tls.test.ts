import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  openMysql,
  parseMysqlUrl,
  testMysqlConnection,
  type ConnectionTestStep,
  type MysqlLogin,
  type MysqlOptions
} from '../../src-main/connections/index.ts'
import { AppError, systemClock } from '../../src-main/kernel/index.ts'
import { startPrivateMariaDb, type TestMariaDb } from '../support/mariadb.ts'

const options: MysqlOptions = {
  accessMode: 'read-write',
  poolSize: 1,
  acquireTimeoutMs: 2_000,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 4_000,
  clock: systemClock
}

/** A certificate authority and one server certificate that it signed for these names, made by openssl. */
class Certificates {
  readonly dir = mkdtempSync(join(tmpdir(), 'taskdeck-tls-'))
  readonly ca: string

  constructor() {
    this.openssl(
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=TestAuthority'
    )
    this.ca = readFileSync(join(this.dir, 'ca.pem'), 'utf8')
  }

  /** Server options for a certificate with these names, such as "DNS:localhost" or "IP:127.0.0.1". */
  server(name: string, names: string): string[] {
    writeFileSync(join(this.dir, `${name}.ext`), `subjectAltName=${names}\n`)
    this.openssl(
      `req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`
    )
    this.openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out ${name}.pem -days 2 -extfile ${name}.ext`
    )
    chmodSync(join(this.dir, `${name}.key`), 0o600)
    return [`--ssl-ca=${this.dir}/ca.pem`, `--ssl-cert=${this.dir}/${name}.pem`, `--ssl-key=${this.dir}/${name}.key`]
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  private openssl(args: string): void {
    const { status, stderr } = spawnSync('openssl', args.split(' '), { cwd: this.dir, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
}

let certificates: Certificates
/** Its certificate names localhost only. */
let byName: TestMariaDb
/** Its certificate names 127.0.0.1 only. */
let byAddress: TestMariaDb
let plain: TestMariaDb

beforeAll(async () => {
  certificates = new Certificates()
  byName = await startPrivateMariaDb({ inMemory: true, serverOptions: certificates.server('name', 'DNS:localhost') })
  byAddress = await startPrivateMariaDb({
    inMemory: true,
    serverOptions: certificates.server('address', 'IP:127.0.0.1')
  })
  plain = await startPrivateMariaDb({ inMemory: true })
  for (const server of [byName, byAddress, plain]) await server.createDatabase('app')
})

afterAll(async () => {
  for (const server of [byName, byAddress, plain]) await server?.stop()
  certificates.remove()
})

const loginTo = (server: TestMariaDb, more: Partial<MysqlLogin> = {}): MysqlLogin => ({
  ...parseMysqlUrl(server.url('app')),
  ca: certificates.ca,
  tls: 'verify-identity',
  ...more
})

/** The cipher of an open connection, or the problem's code and reason. */
async function outcome(login: MysqlLogin): Promise<string> {
  try {
    const database = await openMysql(login, options)
    const { rows } = await database.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    await database.close()
    return rows[0]?.['Value'] === '' ? 'clear' : 'encrypted'
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.details['reason'] ?? error.details['cause']].join(' ')
    throw error
  }
}

async function query(server: TestMariaDb, sql: string): Promise<void> {
  const connection = await mysql.createConnection({
    host: server.host,
    port: server.port,
    user: server.user,
    password: server.password
  })
  await connection.query(sql)
  await connection.end()
}

describe('verify-identity', () => {
  it('accepts the name that the certificate was issued for, and no other', async () => {
    expect(await outcome(loginTo(byName, { host: 'localhost' }))).toBe('encrypted')
    expect(await outcome(loginTo(byAddress, { host: 'localhost' }))).toBe('TLS_FAILED name')
  })

  it('checks an address against the certificate too, and does not take localhost for it', async () => {
    expect(await outcome(loginTo(byAddress))).toBe('encrypted')
    expect(await outcome(loginTo(byName))).toBe('TLS_FAILED name')
  })

  it('refuses an authority that it was not told about', async () => {
    expect(await outcome(loginTo(byName, { host: 'localhost', ca: '' }))).toBe('TLS_FAILED trust')
  })

  it('refuses a server without TLS instead of going on in clear text', async () => {
    expect(await outcome(loginTo(plain))).toBe('TLS_FAILED HANDSHAKE_NO_SSL_SUPPORT')
  })

  it('refuses an authority that is not a certificate before it connects', async () => {
    expect(await outcome(loginTo(byName, { ca: 'not PEM' }))).toMatch(/^INVALID_INPUT/)
  })
})

describe('required and disabled', () => {
  it('encrypts with any certificate, but never goes on in clear text', async () => {
    expect(await outcome(loginTo(byName, { tls: 'required', ca: '' }))).toBe('encrypted')
    expect(await outcome(loginTo(plain, { tls: 'required', ca: '' }))).toBe('TLS_FAILED HANDSHAKE_NO_SSL_SUPPORT')
  })

  it('sends clear text only when told so', async () => {
    expect(await outcome(loginTo(byName, { tls: 'disabled' }))).toBe('clear')
  })
})

describe('the connection test', () => {
  const steps = async (
    login: MysqlLogin,
    accessMode: 'read-only' | 'read-write' = 'read-write'
  ): Promise<ConnectionTestStep[]> => {
    const results: ConnectionTestStep[] = []
    const test = testMysqlConnection(login, {
      accessMode,
      table: null,
      clock: systemClock,
      signal: new AbortController().signal,
      schemaStatus: async (database) => {
        const { rows } = await database.execute('SHOW TABLES')
        return { status: 'warning', notes: [{ code: 'schemaReady', values: { version: rows.length } }], problem: null }
      }
    })
    for await (const step of test) if (step.status !== 'running') results.push(step)
    return results
  }
  const brief = (results: readonly ConnectionTestStep[]): string[] =>
    results.map(({ step, status, problem }) => [step, status, problem?.code].filter(Boolean).join(' '))
  const reader = async (grants: string[]): Promise<MysqlLogin> => {
    const name = `reader${Math.random().toString(36).slice(2, 10)}`
    await query(plain, `CREATE USER '${name}'@'127.0.0.1' IDENTIFIED BY 'pw'`)
    for (const grant of grants) await query(plain, `GRANT ${grant} TO '${name}'@'127.0.0.1'`)
    onTestFinished(() => query(plain, `DROP USER '${name}'@'127.0.0.1'`))
    return loginTo(plain, { tls: 'disabled', user: name, password: 'pw' })
  }

  it('goes through all steps, names the server, and says when rights exceed the need', async () => {
    const results = await steps(loginTo(byAddress))
    expect(brief(results)).toEqual(['tcp ok', 'tls ok', 'login ok', 'database ok', 'rights warning', 'schema warning'])
    const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string
    const elapsed = { code: 'elapsed', values: { ms: expect.any(Number) as number } }
    expect(results.map(({ notes }) => notes)).toEqual([
      [elapsed],
      [{ code: 'tlsVersion', values: { version: matching(/^TLSv1\.\d$/) } }, { code: 'certificateChecked' }],
      [{ code: 'server', values: { name: matching(/^MariaDB \d+\.\d+\.\d+$/) } }, elapsed],
      [{ code: 'database', values: { name: 'app' } }],
      [{ code: 'rightsExcess', values: { rights: matching(/ALL PRIVILEGES ON \*\.\*/) } }],
      [{ code: 'schemaReady', values: { version: 0 } }]
    ])
  })

  it('is content with exactly the rights that the mode needs', async () => {
    const login = await reader(['SELECT ON app.*'])
    expect(brief(await steps(login, 'read-only'))[4]).toBe('rights ok')
    expect((await steps(login, 'read-write'))[4]).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsMissing', values: { rights: 'INSERT, UPDATE, DELETE' } }]
    })
  })

  it('warns whoever may write and could not make the tables that are missing', async () => {
    const writer = await reader(['SELECT, INSERT, UPDATE, DELETE ON app.*'])
    const rights = async (code: 'schemaMissing' | 'schemaReady'): Promise<unknown> => {
      const test = testMysqlConnection(writer, {
        accessMode: 'read-write',
        table: null,
        clock: systemClock,
        signal: new AbortController().signal,
        schemaStatus: () => Promise.resolve({ status: 'warning', notes: [{ code }], problem: null })
      })
      for await (const step of test) if (step.step === 'rights' && step.status !== 'running') return step
      return null
    }
    expect(await rights('schemaMissing')).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsForTables', values: { rights: 'CREATE' } }]
    })
    expect(await rights('schemaReady')).toMatchObject({ status: 'ok' })
  })

  it('stops at the first step that fails and says which', async () => {
    expect(brief(await steps(loginTo(byName)))).toEqual(['tcp ok', 'tls failed TLS_FAILED'])
    expect(brief(await steps(loginTo(plain, { tls: 'disabled', password: 'no' })))).toEqual([
      'tcp ok',
      'tls skipped',
      'login failed LOGIN_REFUSED'
    ])
    expect(brief(await steps(loginTo(plain, { tls: 'disabled', database: 'nope' }))).at(-1)).toBe(
      'database failed DATABASE_UNKNOWN'
    )
    expect(brief(await steps(await reader(['INSERT ON app.*']), 'read-only')).at(-1)).toBe('rights failed NO_RIGHTS')
    expect(brief(await steps(await reader([]))).at(-1)).toBe('database failed NO_RIGHTS')
    expect(brief(await steps(loginTo(plain, { port: 1 })))).toEqual(['tcp failed CONNECTION_REFUSED'])
    expect(brief(await steps(loginTo(byName, { ca: 'x' })))).toEqual(['tcp skipped', 'tls failed INVALID_INPUT'])
  })

  it('says at the first step that another kind of server is at the address', async () => {
    const answering = async (greet: (socket: Socket) => void): Promise<string[]> => {
      const server = createServer(greet).listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      return brief(await steps(loginTo(plain, { tls: 'disabled', host: '127.0.0.1', port })))
    }
    const refused = ['tcp failed NOT_MYSQL']
    expect(await answering((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'))).toEqual(refused)
    // MySQL's own other protocol, of port 33060.
    expect(await answering((socket) => socket.write(Buffer.from('050000000b08051a00', 'hex')))).toEqual(refused)
    const byteByByte = (socket: Socket): void => [...'220 mail\r\n'].forEach((byte) => socket.write(byte))
    expect(await answering(byteByByte)).toEqual(refused)
    expect(await answering((socket) => socket.end())).toEqual(['tcp failed CONNECTION_LOST'])
  })

  it('names the database and the grant to an account without any right on it', async () => {
    const login = await reader([])
    const last = (await steps({ ...login, database: 'no_such_one' }, 'read-only')).at(-1)
    expect(last?.problem).toMatchObject({
      code: 'NO_RIGHTS',
      details: { database: 'no_such_one', grant: `GRANT SELECT ON \`no\\_such\\_one\`.* TO '${login.user}'@'%'` }
    })
  })

  it('ends with the signal and leaves no connection behind', async () => {
    const login = await reader(['SELECT ON app.*'])
    const stop = new AbortController()
    const test = testMysqlConnection(login, {
      accessMode: 'read-only',
      table: null,
      clock: systemClock,
      signal: stop.signal,
      schemaStatus: () => new Promise(() => undefined)
    })
    const all = (async () => {
      for await (const { step } of test) if (step === 'schema') stop.abort(new Error('closed by the user'))
    })()
    await expect(all).rejects.toThrow('closed by the user')
    const watcher = await openMysql(loginTo(plain, { tls: 'disabled' }), options)
    onTestFinished(() => watcher.close())
    await expect
      .poll(
        async () =>
          (await watcher.execute('SELECT ID FROM information_schema.PROCESSLIST WHERE USER = ?', [login.user])).rows
      )
      .toEqual([])
  })
})

describe('a server that changes its mind', () => {
  it('reports read-only, gives up that connection, and writes again when the server does (FAULTS 44)', async () => {
    await query(plain, "CREATE USER writer@'127.0.0.1' IDENTIFIED BY 'pw'")
    await query(plain, "GRANT SELECT, INSERT, UPDATE, DELETE ON app.* TO writer@'127.0.0.1'")
    await query(plain, 'CREATE TABLE app.note (id INT PRIMARY KEY)')
    const database = await openMysql(loginTo(plain, { tls: 'disabled', user: 'writer', password: 'pw' }), options)
    onTestFinished(() => database.close())
    const id = async (): Promise<unknown> => (await database.execute('SELECT CONNECTION_ID() AS id')).rows[0]?.['id']
    const before = await id()
    await query(plain, 'SET GLOBAL read_only = 1')
    onTestFinished(() => query(plain, 'SET GLOBAL read_only = 0'))
    const write = (value: number) =>
      database.transaction((runner) => runner.execute('INSERT INTO note (id) VALUES (?)', [value]))
    await expect(write(1)).rejects.toMatchObject({ code: 'SERVER_READ_ONLY' })
    expect(await id()).not.toBe(before)
    await query(plain, 'SET GLOBAL read_only = 0')
    expect((await write(2)).affectedRows).toBe(1)
  })

  it('is found again after a crash and restart', async () => {
    const database = await openMysql(loginTo(byAddress), options)
    onTestFinished(() => database.close())
    await byAddress.kill9()
    await expect
      .poll(() => database.execute('SELECT 1').catch((error: AppError) => error.code))
      .toBe('CONNECTION_REFUSED')
    await byAddress.restart()
    expect((await database.execute('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})
