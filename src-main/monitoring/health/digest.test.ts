import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf, verbOf } from './digest.ts'

describe('the digest of a statement', () => {
  it.each([
    [`UPDATE t SET a = 'secret', b = "two" WHERE id = 17`, 'UPDATE t SET a = ?, b = ? WHERE id = ?'],
    ['SELECT * FROM t1 WHERE c IN (1, 2, 3)', 'SELECT * FROM t1 WHERE c IN (?)'],
    [`INSERT INTO t VALUES ('a', 1), ('b', 2)`, 'INSERT INTO t VALUES (?)'],
    [`SELECT 'it''s' FROM t`, 'SELECT ? FROM t'],
    [`SELECT x'1f2e', 0x1F, 1.5e3, _utf8'text'`, 'SELECT ?'],
    ['SELECT a /* token=abc */ FROM t -- password', 'SELECT a FROM t'],
    ['SELECT a\n  FROM `my table`\n WHERE b = ?', 'SELECT a FROM `my table` WHERE b = ?'],
    [`INSERT INTO t (payload) VALUES ('{"token":"cut in the mid`, 'INSERT INTO t (payload) VALUES (?']
  ])('of %j is %j', (statement, digest) => {
    expect(digestOf(statement)).toBe(digest)
  })

  it('stops at a literal with a backslash, whichever way the session reads it', () => {
    expect(digestOf(`INSERT INTO t VALUES ('a\\', 'secret')`)).toBe('INSERT INTO t VALUES (? …')
    expect(digestOf(`UPDATE t SET a = 'x\\'y secret' WHERE b = 'z'`)).toBe('UPDATE t SET a = ? …')
  })

  it('is short', () => {
    expect(digestOf(`SELECT ${'a_long_name, '.repeat(100)}x FROM t`).length).toBeLessThan(410)
  })

  it('never shows any part of a literal', () => {
    const quoted = fc.string({ maxLength: 40 }).map((text) => `MARK${text}MARK`)
    fc.assert(
      fc.property(quoted, quoted, fc.nat(200), (first, second, length) => {
        const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
        const statement = `UPDATE t SET a = ${literal(first)}, b = ${literal(second)} WHERE c = 1`
        expect(digestOf(statement.slice(0, 15 + length))).not.toContain('MARK')
      })
    )
  })
})

describe('the verb of a statement', () => {
  it.each([
    ['  (select 1)', 'SELECT'],
    ['update t set a = 1', 'UPDATE'],
    ['hunter2', null],
    ['', null]
  ])('of %j is %s', (statement, verb) => expect(verbOf(statement)).toBe(verb))
})
