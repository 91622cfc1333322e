import { describe, expect, it } from 'vitest'
import { AppError, type SqlFlavour } from '../kernel/index.ts'
import { breaksConnection, classifySqlError, isTransient } from './sql-error.ts'

const server = (errno: number, more: object = {}): Error =>
  Object.assign(new Error('text with a secret'), { errno, sqlState: 'HY000', code: 'ER_WHATEVER', ...more })
const network = (code: string, more: object = {}): Error =>
  Object.assign(new Error('text'), { code, errno: -111, ...more })

describe('classifySqlError', () => {
  it.each([
    ['LOGIN_REFUSED', [1045, 1698, 1251, 1820, 1862, 1129, 1130]],
    ['DATABASE_UNKNOWN', [1049]],
    ['NO_RIGHTS', [1044, 1142, 1143, 1227]],
    ['CONNECTION_LOST', [1053, 2006, 2013]],
    ['SERVER_READ_ONLY', [1290, 1792, 1836]],
    ['TOO_MANY_CONNECTIONS', [1040, 1203, 1226]],
    ['DEADLOCK', [1213, 1020]],
    ['LOCK_TIMEOUT', [1205]],
    ['DISK_FULL', [1021, 1114]],
    ['SCHEMA_MISSING', [1146]],
    ['SQL_FAILED', [1064, 1062, 1054, 1461]]
  ])('is %s on both servers', (code, numbers) => {
    for (const flavour of ['mysql', 'mariadb'] satisfies SqlFlavour[])
      expect(numbers.map((errno) => classifySqlError(server(errno), flavour).code)).toEqual(numbers.map(() => code))
  })

  it('names the right that is missing and repeats nothing else of the text', () => {
    const said = (errno: number, message: string): AppError =>
      classifySqlError(Object.assign(new Error(message), { errno, sqlState: '42000' }))
    const create = said(1142, "CREATE command denied to user 's3cret'@'h' for table `d`.`taskdeck_migration`")
    expect(create.details).toEqual({ errno: 1142, sqlState: '42000', privilege: 'CREATE' })
    expect(create.message).toContain('ask for GRANT CREATE on this database')
    expect(create.message).not.toContain('s3cret')
    expect(said(1142, "SELECT, INSERT command denied to user 'u'@'h'").details['privilege']).toBe('SELECT, INSERT')
    const several =
      'Access denied; you need (at least one of) the SUPER, READ_ONLY ADMIN privilege(s) for this operation'
    expect(said(1227, several).details['privilege']).toBe('SUPER, READ_ONLY ADMIN')
    expect(said(1142, 'CREATE Befehl verweigert').details['privilege']).toBeUndefined()
    expect(
      said(1044, "Access denied for user 'u'@'h' to database ' the DROP privilege'").details['privilege']
    ).toBeUndefined()
  })

  it('reads numbers above 1900 by the flavour', () => {
    expect(classifySqlError(server(1969), 'mariadb').code).toBe('STATEMENT_TIMEOUT')
    expect(classifySqlError(server(1969), 'mysql').code).toBe('SQL_FAILED')
    expect(classifySqlError(server(3024), 'mysql').code).toBe('STATEMENT_TIMEOUT')
    expect(classifySqlError(server(3024), 'mariadb').code).toBe('SQL_FAILED')
    expect(classifySqlError(server(1927), 'mariadb').code).toBe('CONNECTION_LOST')
    expect(classifySqlError(server(4031), 'mysql').code).toBe('CONNECTION_LOST')
  })

  it.each([
    ['CONNECTION_REFUSED', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']],
    ['HOST_UNKNOWN', ['ENOTFOUND', 'EAI_AGAIN']],
    ['CONNECT_TIMEOUT', ['ETIMEDOUT']],
    ['CONNECTION_LOST', ['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE']],
    ['TLS_FAILED', ['HANDSHAKE_NO_SSL_SUPPORT', 'HANDSHAKE_SSL_ERROR']],
    ['LOGIN_REFUSED', ['AUTH_SWITCH_PLUGIN_ERROR', 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED']],
    ['CONNECTION_LOST', ['PROTOCOL_PACKETS_OUT_OF_ORDER_OR_ANYTHING_FATAL']]
  ])('is %s by the code of the network or the driver', (expected, codes) => {
    expect(codes.map((code) => classifySqlError(network(code, { fatal: true })).code)).toEqual(
      codes.map(() => expected)
    )
  })

  it('tells a certificate for another host from one that is not trusted', () => {
    const name = classifySqlError(network('HANDSHAKE_SSL_ERROR', { host: 'db', reason: 'r', cert: {} }))
    expect([name.code, name.details['reason']]).toEqual(['TLS_FAILED', 'name'])
    expect(classifySqlError(network('HANDSHAKE_SSL_ERROR')).details['reason']).toBe('trust')
  })

  it('says what to do about a login method that needs encryption', () => {
    const cause = network('TASKDECK_LOGIN_NEEDS_TLS')
    const problem = classifySqlError(network('AUTH_SWITCH_PLUGIN_ERROR', { cause, fatal: true }))
    expect(problem.code).toBe('LOGIN_REFUSED')
    expect(problem.message).toContain('set TLS to "required"')
  })

  it('keeps the number for the caller and the text out of the message', () => {
    const problem = classifySqlError(server(1062), 'mysql')
    expect(problem.details).toEqual({ errno: 1062, sqlState: 'HY000' })
    expect(problem.message).not.toContain('secret')
  })

  it('returns an AppError as it is', () => {
    const own = new AppError('READ_ONLY', 'user', 'x')
    expect(classifySqlError(own)).toBe(own)
  })
})

describe('what an error means for a loop and a connection', () => {
  const of = (errno: number): AppError => classifySqlError(server(errno), 'mariadb')

  it('tries again what passes by itself, and nothing that needs a person or an answer', () => {
    expect([1213, 1205, 2013, 1290, 1040, 1969].map((errno) => isTransient(of(errno)))).not.toContain(false)
    expect([1045, 1049, 1142, 1146, 1064].map((errno) => isTransient(of(errno)))).not.toContain(true)
    expect(isTransient(new AppError('COMMIT_UNKNOWN', 'operational', 'x'))).toBe(false)
  })

  it('gives up the connection after a loss and after a failover only', () => {
    expect([2013, 1053, 1290, 1792, 1836].map((errno) => breaksConnection(of(errno)))).not.toContain(false)
    expect([1213, 1205, 1062, 1969].map((errno) => breaksConnection(of(errno)))).not.toContain(true)
  })
})
