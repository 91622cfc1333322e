import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError, systemClock } from '../kernel/index.ts'
import type { DriverLogin } from './driver.ts'
import { openSession, sessionSettings, type SessionOptions } from './session.ts'

const options: SessionOptions = {
  accessMode: 'read-only',
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 5_000,
  clock: systemClock
}

/** Just enough of a MySQL 8 server to ask for a password in a given way. */
class LoginServer {
  /** What the client sent after the request for its password. */
  readonly answered: Promise<Buffer | null>
  private readonly server = createServer()
  private settle: (data: Buffer | null) => void = () => undefined

  constructor(plugin: string, requests: readonly Buffer[]) {
    this.answered = new Promise((resolve) => (this.settle = resolve))
    this.server.on('connection', (socket) => this.talk(socket, plugin, [...requests]))
  }

  async listen(): Promise<number> {
    this.server.listen(0, '0.0.0.0')
    await once(this.server, 'listening')
    return (this.server.address() as AddressInfo).port
  }

  close(): void {
    this.server.close()
  }

  private talk(socket: Socket, plugin: string, requests: Buffer[]): void {
    let sequence = 0
    const send = (payload: Buffer): void => {
      socket.write(Buffer.concat([Buffer.from([payload.length, 0, 0, sequence]), payload]))
      sequence += 2
    }
    socket.on('error', () => undefined)
    socket.on('close', () => this.settle(null))
    send(greeting())
    const script = [Buffer.from(`\xfe${plugin}\0${'s'.repeat(20)}\0`, 'latin1'), ...requests]
    socket.on('data', (data) => {
      const next = script.shift()
      if (next) send(next)
      else this.settle(data)
    })
  }
}

function greeting(): Buffer {
  const protocol41 = 0x0200
  const secureConnection = 0x8000
  const pluginAuth = 0x0008
  return Buffer.concat([
    Buffer.from('\x0a8.4.0\0\x01\0\0\0abcdefgh\0', 'latin1'),
    Buffer.from(new Uint16Array([protocol41 | secureConnection]).buffer),
    Buffer.from([255, 2, 0]),
    Buffer.from(new Uint16Array([pluginAuth]).buffer),
    Buffer.from([21]),
    Buffer.alloc(10),
    Buffer.from('ijklmnopqrst\0mysql_native_password\0')
  ])
}

const fullLogin = Buffer.from([1, 4])
const servers: LoginServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function attempt(
  host: string,
  plugin: string,
  requests: readonly Buffer[]
): Promise<{ problem: AppError; server: LoginServer }> {
  const server = new LoginServer(plugin, requests)
  servers.push(server)
  const port = await server.listen()
  const login: DriverLogin = { host, port, user: 'u', password: 'secret', database: null, tls: 'disabled', ca: '' }
  const opening = openSession(login, { ...options, connectTimeoutMs: 1_000 })
  const problem = await opening.then(
    () => new AppError('BUG', 'bug', 'it logged in'),
    (error: AppError) => error
  )
  return { problem, server }
}

/** This machine, by a name that says nothing of it. */
const elsewhere = '0.0.0.0'

describe('a login in clear text to another machine', () => {
  it.each([
    ['caching_sha2_password', [fullLogin]],
    ['sha256_password', []]
  ])('asks for no key to send the password with (%s), and says what to do', async (plugin, requests) => {
    const { problem, server } = await attempt(elsewhere, plugin, requests)
    expect(problem.code).toBe('LOGIN_REFUSED')
    expect(problem.message).toContain('set TLS to "required"')
    expect(await server.answered).toBeNull()
  })

  it('never sends the password as it is', async () => {
    const { problem, server } = await attempt(elsewhere, 'mysql_clear_password', [])
    expect([problem.code, await server.answered]).toEqual(['LOGIN_REFUSED', null])
  })

  it('names a method that it does not know as the reason', async () => {
    const { problem } = await attempt(elsewhere, 'authentication_kerberos_client', [])
    expect(problem.code).toBe('LOGIN_REFUSED')
    expect(problem.message).toContain('login method')
  })
})

describe('a login in clear text on this machine', () => {
  it('may ask the server for its key', async () => {
    const { server } = await attempt('127.0.0.1', 'caching_sha2_password', [fullLogin])
    expect((await server.answered)?.subarray(4)).toEqual(Buffer.from([2]))
  })
})

describe('sessionSettings', () => {
  it('limits statements in the way of the flavour, and lock waits below that', () => {
    const [mysql] = sessionSettings('mysql', options)
    const [mariadb] = sessionSettings('mariadb', { ...options, statementTimeoutMs: 1_500 })
    expect(mysql).toContain('innodb_lock_wait_timeout=2, lock_wait_timeout=2')
    expect(mysql).toMatch(/max_execution_time=5000$/)
    expect(mariadb).toContain('innodb_lock_wait_timeout=1, lock_wait_timeout=1')
    expect(mariadb).toMatch(/max_statement_time=1\.5$/)
  })

  it('makes transactions read-only in that mode', () => {
    expect(sessionSettings('mysql', options)[1]).toMatch(/READ COMMITTED, READ ONLY$/)
    expect(sessionSettings('mysql', { ...options, accessMode: 'read-write' })[1]).toMatch(/READ COMMITTED, READ WRITE$/)
  })
})
