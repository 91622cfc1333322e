import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { AppError } from '../kernel/index.ts'

/**
 * `disabled`: plain text. `required`: encrypted, but **any** certificate is accepted, so it helps against listening and
 * not against someone in between. `verify-identity`: the certificate is trusted and names the host.
 */
export type TlsMode = 'disabled' | 'required' | 'verify-identity'
export type AccessMode = 'read-only' | 'read-write'

/** Where a server is and who logs in. The password is never part of it. */
export interface MysqlSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  readonly tls: TlsMode
  /** PEM text of certificate authorities; empty uses those of Node and of the operating system. */
  readonly ca: string
}

export interface MysqlLogin extends MysqlSettings {
  readonly password: string
}

const tlsModes: readonly TlsMode[] = ['disabled', 'required', 'verify-identity']

/**
 * Settings from `mysql://user:password@host:port/database?tls=required`. `tls` defaults to `disabled`, the port to 3306.
 * Throws INVALID_INPUT; neither the message nor the cause repeats any part of the text, which may hold a password.
 */
export function parseMysqlUrl(text: string): MysqlLogin {
  const url = parseUrl(text)
  if (url.protocol !== 'mysql:') throw invalid('The address must start with mysql://')
  const tls = url.searchParams.get('tls') ?? 'disabled'
  const mode = tlsModes.find((known) => known === tls)
  if (!mode) throw invalid(`tls must be one of ${tlsModes.join(', ')}`)
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'tls')
  if (unknown.length > 0) throw invalid('Only tls may stand behind the question mark of the address')
  const login = {
    host: decode(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 3306 : Number(url.port),
    user: decode(url.username),
    password: decode(url.password),
    database: decode(url.pathname.slice(1)),
    tls: mode,
    ca: ''
  }
  if (login.host === '') throw invalid('The address names no host')
  if (login.port === 0) throw invalid('The port must be between 1 and 65535')
  if (login.user === '') throw invalid('The address names no user')
  if (login.database === '' || login.database.includes('/'))
    throw invalid('The address must end with one database name')
  requirePlainNames(login)
  return login
}

/** Such characters are never meant: they come along when a name is pasted. Throws INVALID_INPUT, which names the field. */
export function requirePlainNames(names: Pick<MysqlSettings, 'host' | 'user'> & { database: string | null }): void {
  for (const field of ['host', 'user', 'database'] as const) {
    if (!/\p{Cc}/u.test(names[field] ?? '')) continue
    const text = `The ${field} has a character in it that cannot be seen, such as a line break: type it again.`
    throw new AppError('INVALID_INPUT', 'user', text, { details: { field } })
  }
}

/** Whether the link to this host stays on this machine. A name other than `localhost` counts as elsewhere. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase()
  if (name === 'localhost' || name === '::1') return true
  return isIP(name) === 4 && name.startsWith('127.')
}

/** Certificates of a PEM text. Throws INVALID_INPUT when it holds none or a broken one. */
export function pemCertificates(text: string): string[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  try {
    if (blocks.length === 0) throw new Error('no certificate')
    for (const block of blocks) new X509Certificate(block)
  } catch (cause) {
    throw new AppError(
      'INVALID_INPUT',
      'user',
      'The certificate authority is not a PEM certificate: paste the text of the .pem file.',
      {
        cause,
        details: { field: 'ca' }
      }
    )
  }
  return blocks
}

function parseUrl(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw invalid(
      'Write the address as mysql://user:password@host:port/database, with @ in a user name or password as %40, : as %3A and / as %2F'
    )
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalid('A % in the address must be followed by two hexadecimal digits; write %25 for the sign itself')
  }
}

const invalid = (message: string): AppError =>
  new AppError('INVALID_INPUT', 'user', `${message}.`, { details: { field: 'url' } })
