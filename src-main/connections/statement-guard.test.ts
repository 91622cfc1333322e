import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { guardStatement, statementFacts } from './statement-guard.ts'

const verdict = (sql: string, accessMode: 'read-only' | 'read-write', inTransaction = false): string => {
  try {
    guardStatement(sql, accessMode, inTransaction)
    return 'allowed'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

describe('read-only', () => {
  it.each([
    'SELECT 1',
    '  (SELECT a FROM t) UNION (SELECT b FROM t)',
    '-- note\nSELECT a FROM t',
    "SELECT 'DELETE FROM t; INTO OUTFILE' AS text, `update` FROM t",
    'WITH x AS (SELECT 1) SELECT * FROM x',
    'SHOW GRANTS',
    'EXPLAIN UPDATE t SET a = 1',
    'SELECT updated_at, deleted FROM t WHERE inserted = ?'
  ])('allows %s', (sql) => expect(verdict(sql, 'read-only')).toBe('allowed'))

  it.each([
    'INSERT INTO t VALUES (1)',
    'update t set a = 1',
    'DELETE FROM t',
    'DROP TABLE t',
    'WITH x AS (SELECT 1) DELETE FROM t',
    "SELECT a FROM t INTO OUTFILE '/tmp/x'",
    'SELECT a INTO @v FROM t',
    'SELECT a FROM t FOR UPDATE',
    'SELECT a FROM t FOR  SHARE',
    'SELECT a FROM t LOCK IN SHARE MODE',
    "SELECT GET_LOCK('a', 1)",
    'SELECT SLEEP(100)',
    "SELECT LOAD_FILE('/etc/passwd')",
    'SELECT @a := 1',
    'SELECT NEXTVAL(s)',
    'EXPLAIN ANALYZE UPDATE t SET a = 1',
    'ANALYZE TABLE t',
    '/*! DELETE FROM t */',
    'SELECT 1 /*M! INTO OUTFILE "x" */',
    '/* SELECT */ DELETE FROM t',
    'SET SESSION TRANSACTION READ WRITE',
    'CALL p()',
    ''
  ])('refuses %s', (sql) => expect(verdict(sql, 'read-only')).toBe('READ_ONLY'))
})

describe('read-write', () => {
  it('allows reading, writing and definitions, but no definition inside of a transaction', () => {
    for (const sql of [
      'SELECT a FROM t FOR UPDATE',
      'INSERT INTO t VALUES (1)',
      'REPLACE INTO t VALUES (1)',
      'CREATE TABLE t (a INT)'
    ])
      expect(verdict(sql, 'read-write')).toBe('allowed')
    expect(verdict('ALTER TABLE t ADD b INT', 'read-write', true)).toBe('BUG')
  })

  it.each([
    'SET @a = 1',
    'USE other',
    'BEGIN',
    'START TRANSACTION',
    'COMMIT',
    'ROLLBACK',
    'LOCK TABLES t WRITE',
    'KILL 1',
    'DO 1'
  ])('refuses %s, which would change the session under its next user', (sql) =>
    expect(verdict(sql, 'read-write')).toBe('BUG')
  )

  it('notices what leaves traces in the session', () => {
    expect(statementFacts("SELECT GET_LOCK('x', 0)").leavesTraces).toBe(true)
    expect(statementFacts('CREATE TEMPORARY TABLE t (a INT)').leavesTraces).toBe(true)
    expect(statementFacts("SELECT 'GET_LOCK' FROM t").leavesTraces).toBe(false)
  })
})
