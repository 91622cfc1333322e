import { AppError, type ErrorCode, type ErrorDetails, type ErrorKind, type SqlFlavour } from '../kernel/index.ts'

/*
 * Errors are told apart by number and flavour (server) or by the system's code (network), never by text and not by
 * mysql2's name for a number: its names are MySQL's and wrong for MariaDB above 1900.
 */

interface Meaning {
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly message: string
}

const meaning = (code: ErrorCode, kind: ErrorKind, message: string): Meaning => ({ code, kind, message })

const loginRefused = meaning('LOGIN_REFUSED', 'user', 'The server refused the login: check user name and password.')
const pluginUnsupported = meaning(
  'LOGIN_REFUSED',
  'user',
  'The account uses a login method that this app does not speak: use an account with caching_sha2_password or mysql_native_password.'
)
const clearPassword = meaning(
  'LOGIN_REFUSED',
  'user',
  'The server asks for the password in clear text, which this app never sends: use an account with caching_sha2_password or mysql_native_password.'
)
const needsTls = meaning(
  'LOGIN_REFUSED',
  'user',
  'This login method sends the password itself the first time after a server start, which needs encryption: set TLS to "required" or "verify-identity".'
)
const expired = meaning(
  'LOGIN_REFUSED',
  'user',
  'The password of this account has expired: set a new one on the server, then enter it here.'
)
const locked = meaning(
  'LOGIN_REFUSED',
  'user',
  'The account is locked: ask the administrator of the server to unlock it.'
)
const hostNotAllowed = meaning(
  'LOGIN_REFUSED',
  'user',
  'The server accepts no connections from this machine: ask its administrator to allow this host.'
)
const hostBlocked = meaning(
  'LOGIN_REFUSED',
  'operational',
  'The server has blocked this machine after many broken connections: its administrator can lift that with FLUSH HOSTS.'
)
const databaseUnknown = meaning('DATABASE_UNKNOWN', 'user', 'The server has no such database: check its name.')
const noRights = meaning('NO_RIGHTS', 'user', 'The account has no right to do this: ask for the missing grant.')
const lost = meaning(
  'CONNECTION_LOST',
  'operational',
  'The connection to the server was lost; it is opened again by itself.'
)
const serverReadOnly = meaning(
  'SERVER_READ_ONLY',
  'operational',
  'The server accepts no changes now: it is read-only, or a replica after a failover.'
)
const tooMany = meaning(
  'TOO_MANY_CONNECTIONS',
  'operational',
  'The server or the account has no free connections left.'
)
const deadlock = meaning('DEADLOCK', 'operational', 'The transaction met another one and was rolled back: try again.')
const lockTimeout = meaning(
  'LOCK_TIMEOUT',
  'operational',
  'Rows or tables stayed locked by another transaction: try again.'
)
const statementTimeout = meaning(
  'STATEMENT_TIMEOUT',
  'operational',
  'The statement took longer than allowed and was stopped.'
)
const interrupted = meaning('STATEMENT_TIMEOUT', 'operational', 'The statement was stopped on the server by KILL.')
const tooManyStatements = meaning(
  'SQL_FAILED',
  'operational',
  'The server holds too many prepared statements: use fewer connections or raise max_prepared_stmt_count.'
)
const diskFull = meaning('DISK_FULL', 'operational', 'The server has no disk space left for this.')
const schemaMissing = meaning('SCHEMA_MISSING', 'operational', 'A table is missing in this database.')
const sqlFailed = meaning('SQL_FAILED', 'operational', 'The server refused the statement.')

/** Access denied. The server does not tell a wrong password from an unknown user, on purpose. */
const accessDenied: readonly number[] = [1045, 1698]

/** Numbers that both servers give the same meaning. */
const byErrno = new Map<number, Meaning>([
  ...entries(loginRefused, accessDenied),
  ...entries(locked, [3118]),
  ...entries(expired, [1820, 1862]),
  ...entries(pluginUnsupported, [1251, 1275]),
  ...entries(hostNotAllowed, [1130]),
  ...entries(hostBlocked, [1129]),
  ...entries(databaseUnknown, [1049]),
  ...entries(noRights, [1044, 1142, 1143, 1227, 1370]),
  ...entries(lost, [1053, 1077, 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013]),
  ...entries(serverReadOnly, [1290, 1792, 1836]),
  ...entries(tooMany, [1040, 1203, 1226]),
  ...entries(tooManyStatements, [1461]),
  // 1020: a row changed under MariaDB's snapshot isolation; like a deadlock, the whole transaction runs again.
  ...entries(deadlock, [1020, 1213]),
  ...entries(lockTimeout, [1205]),
  ...entries(interrupted, [1317]),
  ...entries(diskFull, [1021, 1114]),
  ...entries(schemaMissing, [1146])
])

/** Above 1900 the numbers were given away twice. */
const byFlavour: Record<SqlFlavour, ReadonlyMap<number, Meaning>> = {
  mariadb: new Map([
    ...entries(statementTimeout, [1969]),
    // The connection was killed.
    ...entries(lost, [1927]),
    ...entries(locked, [4151])
  ]),
  mysql: new Map([
    ...entries(statementTimeout, [3024]),
    ...entries(lockTimeout, [3572]),
    // Disconnected for inactivity.
    ...entries(lost, [4031])
  ])
}

const connectionRefused = meaning(
  'CONNECTION_REFUSED',
  'operational',
  'Nothing accepts connections at this address: check host and port, and that the server runs.'
)
const hostUnknown = meaning('HOST_UNKNOWN', 'operational', 'The host name is not known: check it, or the network.')
const unreachable = meaning(
  'CONNECTION_REFUSED',
  'operational',
  'There is no way to this host: check the network or the VPN.'
)
const connectTimeout = meaning(
  'CONNECT_TIMEOUT',
  'operational',
  'The server did not answer in time: check host, port and firewall.'
)
const tlsFailed = meaning('TLS_FAILED', 'user', 'The encrypted connection could not be set up.')
const tlsUnsupported = meaning(
  'TLS_FAILED',
  'user',
  'The server offers no encryption: set it up there, or set TLS to "disabled".'
)
const tlsWrongName = meaning(
  'TLS_FAILED',
  'user',
  "The server's certificate is for another host: enter the name that it was issued for, or correct the certificate."
)
const tlsUntrusted = meaning(
  'TLS_FAILED',
  'user',
  "The server's certificate is not trusted: add the certificate authority that signed it."
)

const byCode = new Map<string, Meaning>([
  ...entries(connectionRefused, ['ECONNREFUSED', 'ENOENT', 'EACCES']),
  ...entries(hostUnknown, ['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_NODATA', 'EAI_FAIL']),
  ...entries(unreachable, ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL']),
  ...entries(connectTimeout, ['ETIMEDOUT']),
  ...entries(tlsUnsupported, ['HANDSHAKE_NO_SSL_SUPPORT']),
  ...entries(needsTls, ['TASKDECK_LOGIN_NEEDS_TLS']),
  ...entries(clearPassword, ['MYSQL_CLEAR_PASSWORD_NOT_ENABLED']),
  ...entries(pluginUnsupported, ['AUTH_SWITCH_PLUGIN_ERROR']),
  ...entries(lost, ['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_DESTROYED'])
])

function entries<K, M>(value: M, keys: readonly K[]): [K, M][] {
  return keys.map((key) => [key, value])
}

interface DriverError {
  readonly errno?: unknown
  readonly sqlState?: unknown
  readonly code?: unknown
  readonly fatal?: unknown
  readonly host?: unknown
  readonly cause?: unknown
}

/**
 * An error of the driver, the network or the server as an AppError. The server's own text stays in `cause` only: it may
 * quote values. `details.errno` is the server's number, for callers that expect one (1062 for a duplicate key).
 * An AppError is returned as it is; without a flavour (before the login) numbers above 1900 are taken as MariaDB's.
 */
export function classifySqlError(error: unknown, flavour: SqlFlavour | null = null): AppError {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) return sqlError(sqlFailed, error, {})
  const facts = error as DriverError
  const code = typeof facts.code === 'string' ? facts.code : ''
  // The server's numbers come with a five-character state; the system's negative errno does not.
  if (typeof facts.errno === 'number' && facts.errno >= 1000) return serverError(error, facts.errno, facts, flavour)
  const network = byCode.get(code)
  // mysql2 overwrites the code that a login plugin gives its error, not its cause.
  const inner = facts.cause instanceof Error ? byCode.get(String((facts.cause as DriverError).code)) : undefined
  if (inner ?? network) return sqlError(inner ?? network ?? sqlFailed, error, code === '' ? {} : { cause: code })
  if (
    code === 'HANDSHAKE_SSL_ERROR' ||
    code.startsWith('ERR_TLS') ||
    code.startsWith('ERR_SSL') ||
    code.startsWith('ERR_OSSL')
  )
    return tlsError(error, facts)
  if (facts.fatal === true) return sqlError(lost, error, code === '' ? {} : { cause: code })
  return sqlError(sqlFailed, error, code === '' ? {} : { cause: code })
}

function serverError(error: Error, errno: number, facts: DriverError, flavour: SqlFlavour | null): AppError {
  const found = byErrno.get(errno) ?? byFlavour[flavour ?? 'mariadb'].get(errno)
  const state: ErrorDetails = typeof facts.sqlState === 'string' ? { sqlState: facts.sqlState } : {}
  if (found === noRights) return rightDenied(error, { errno, ...state })
  if (found) return sqlError(found, error, { errno, ...state })
  return new AppError('SQL_FAILED', 'operational', `${sqlFailed.message.slice(0, -1)} (error ${errno}).`, {
    cause: error,
    details: { errno, ...state }
  })
}

/**
 * The number says that a right is missing, only the text says which. Nothing else is taken from it: it also quotes accounts and names,
 * and in a server of another language nothing is found.
 */
function rightDenied(error: Error, details: ErrorDetails): AppError {
  const privilege = deniedPrivilege.get(Number(details['errno']))?.exec(error.message)?.[1]
  if (privilege === undefined) return sqlError(noRights, error, details)
  const text = `The account has no ${privilege} right here: ask for GRANT ${privilege} on this database.`
  return new AppError('NO_RIGHTS', 'user', text, { cause: error, details: { ...details, privilege } })
}

/** "CREATE command denied to user …"; "you need (at least one of) the SUPER, READ_ONLY ADMIN privilege(s) for this operation". */
const deniedPrivilege = new Map<number, RegExp>([
  ...entries(/^([A-Z]+(?:,? [A-Z]+)*) command denied /, [1142, 1143]),
  [1227, / the ([A-Z_]+(?:,? [A-Z_]+)*) privilege/]
])

/** A certificate for another name carries that name; other failures of the check are about trust or the protocol. */
function tlsError(error: Error, facts: DriverError): AppError {
  if (typeof facts.host === 'string') return sqlError(tlsWrongName, error, { reason: 'name' })
  const library = (error as { library?: unknown }).library
  if (library !== undefined) return sqlError(tlsFailed, error, { reason: 'protocol' })
  return sqlError(tlsUntrusted, error, { reason: 'trust' })
}

const sqlError = ({ code, kind, message }: Meaning, cause: unknown, details: ErrorDetails): AppError =>
  new AppError(code, kind, message, { cause, details })

const transientCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'CONNECTION_REFUSED',
  'HOST_UNKNOWN',
  'CONNECT_TIMEOUT',
  'CONNECTION_LOST',
  'SERVER_READ_ONLY',
  'TOO_MANY_CONNECTIONS',
  'POOL_EXHAUSTED',
  'STATEMENT_TIMEOUT',
  'DEADLOCK',
  'LOCK_TIMEOUT',
  'DISK_FULL'
])

/**
 * Whether a loop may simply try again later without anyone changing settings. COMMIT_UNKNOWN is not among them: the
 * caller has to find out first whether its work is done.
 */
export const isTransient = (error: AppError): boolean => transientCodes.has(error.code)

/** The login failed for what was typed; for an expired, locked or unsupported account another password would change nothing. */
export const refusesPassword = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'LOGIN_REFUSED' && accessDenied.includes(Number(error.details['errno']))

/** The connection itself is of no further use: gone, or bound to a server that takes no changes any more. */
export function breaksConnection(error: AppError): boolean {
  return error.code === 'CONNECTION_LOST' || error.code === 'SERVER_READ_ONLY'
}
