import { connect, type Socket } from 'node:net'
import * as tls from 'node:tls'
import mysql, { type Connection, type ConnectionOptions } from 'mysql2'
import { isLoopbackHost, pemCertificates, type MysqlSettings } from './settings.ts'

/** Keep-alive probes start after this much silence: a dead peer is noticed although nothing is sent. */
const keepAliveMs = 30_000

/** Per connection; the server's own limit (max_prepared_stmt_count, 16,382) is shared by all. */
const maxPreparedStatements = 256

export interface DriverLogin extends Omit<MysqlSettings, 'database'> {
  readonly password: string
  /** null logs in without choosing one. */
  readonly database: string | null
}

/** A driver connection and the socket below it, which is what really ends it. */
export interface DriverConnection {
  readonly connection: Connection
  readonly socket: Socket
}

/** A socket on its way to a server, and the driver's part once a MySQL server has greeted. */
export interface Dialled {
  readonly socket: Socket
  join(): DriverConnection
}

/**
 * Starts to connect; the caller waits for the greeting, then for the driver's `connect` or `error`, under a deadline of its own, and destroys
 * the socket when it gives up. The driver only half-closes it, which on a dead link holds it open for minutes. Throws INVALID_INPUT.
 */
export function dial(login: DriverLogin): Dialled {
  const ssl = tlsOptions(login)
  const socket = connect(login.port, login.host)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, keepAliveMs)
  nameTheHost(socket, login.host)
  const join = (): DriverConnection => {
    const connection = mysql.createConnection({ ...fixedOptions(login), ...(ssl ? { ssl } : {}), stream: () => socket })
    socket.resume() // it was paused with the greeting in it
    return { connection, socket }
  }
  return { socket, join }
}

/**
 * Node checks a certificate against the socket's host name and, when it was opened by address, against "localhost":
 * a certificate for localhost would pass for every address. `_host` is where Node keeps the name; a test with
 * certificates for right and wrong addresses guards it.
 */
function nameTheHost(socket: Socket, host: string): void {
  Object.assign(socket, { _host: host })
}

function fixedOptions(login: DriverLogin): ConnectionOptions {
  return {
    host: login.host,
    port: login.port,
    user: login.user,
    password: login.password,
    ...(login.database === null ? {} : { database: login.database }),
    // Exact values: BIGINT and DECIMAL as strings, times and JSON as the server's text.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    timezone: 'Z',
    charset: 'UTF8MB4_UNICODE_CI',
    multipleStatements: false,
    namedPlaceholders: false,
    maxPreparedStatements,
    // A hostile server may ask for any local file; this client never offers to send one.
    flags: ['-LOCAL_FILES', '-IGNORE_SPACE', '-ODBC'],
    connectTimeout: 0,
    authPlugins: loginPlugins(login),
    connectAttributes: { program_name: 'taskdeck' }
  }
}

type LoginPlugin = NonNullable<ConnectionOptions['authPlugins']>[string]
type LoginStep = ReturnType<LoginPlugin>

/** caching_sha2_password's request for the password itself, when the server's cache does not know it yet. */
const fullLoginRequested = 4

/**
 * On a clear link to another machine the driver would silently ask the server for a public key and send the password
 * encrypted by whatever key comes back. Refused with a hint; on this machine and inside TLS the driver's way is fine.
 */
function loginPlugins(login: DriverLogin): Record<string, LoginPlugin> {
  if (login.tls !== 'disabled' || isLoopbackHost(login.host)) return {}
  return {
    caching_sha2_password: guarded(mysql.authPlugins.caching_sha2_password({}), (data, first) => {
      return !first && data.length === 1 && data[0] === fullLoginRequested
    }),
    sha256_password: guarded(mysql.authPlugins.sha256_password({}), (_data, first) => first)
  }
}

function guarded(plugin: LoginPlugin, asksForPassword: (data: Buffer, first: boolean) => boolean): LoginPlugin {
  return (metadata) => {
    const step: LoginStep = plugin(metadata)
    let first = true
    return (data) => {
      if (asksForPassword(data, first)) throw loginNeedsTls()
      first = false
      return step(data)
    }
  }
}

/** The driver overwrites the code of what a login plugin throws, so the code rides in the cause. */
function loginNeedsTls(): Error {
  const cause = Object.assign(new Error('password over a clear link'), { code: 'TASKDECK_LOGIN_NEEDS_TLS' })
  return new Error('The login method needs encryption', { cause })
}

function tlsOptions(login: DriverLogin): NonNullable<Exclude<ConnectionOptions['ssl'], string>> | null {
  if (login.tls === 'disabled') return null
  if (login.tls === 'required') return { rejectUnauthorized: false }
  return { rejectUnauthorized: true, verifyIdentity: true, ca: trustedAuthorities(login.ca) }
}

const trustedAuthorities = (ca: string): string[] => (ca.trim() === '' ? systemAuthorities() : pemCertificates(ca))

/** Node's own list and, where this Node can read it, the operating system's. */
function systemAuthorities(): string[] {
  if (typeof tls.getCACertificates !== 'function') return [...tls.rootCertificates]
  return [...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]
}
