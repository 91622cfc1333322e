import { describe, expect, it } from 'vitest'
import { judgeRights } from './grants.ts'

const usage = "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'"
const judge = (lines: string[], mode: 'read-only' | 'read-write' = 'read-only') =>
  judgeRights([usage, ...lines], 'app', mode)

describe('judgeRights', () => {
  it('is content with what the mode needs', () => {
    expect(judge(['GRANT SELECT ON `app`.* TO `u`@`%`']).status).toBe('ok')
    expect(judge(['GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `app`.* TO `u`@`%`'], 'read-write').status).toBe(
      'ok'
    )
  })

  it('fails without SELECT on this database', () => {
    const verdict = judge(['GRANT SELECT ON `other`.* TO `u`@`%`', 'GRANT INSERT ON `app`.* TO `u`@`%`'])
    expect([verdict.status, verdict.problem?.code]).toEqual(['failed', 'NO_RIGHTS'])
  })

  it('reads the name of a database as the pattern that it is', () => {
    expect(judge(['GRANT SELECT ON `a%`.* TO `u`@`%`']).status).toBe('ok')
    expect(judge(['GRANT SELECT ON `a_p`.* TO `u`@`%`']).status).toBe('ok')
    expect(judge(['GRANT SELECT ON `a\\_p`.* TO `u`@`%`']).status).toBe('failed')
    expect(judgeRights(['GRANT SELECT ON `my\\_app`.* TO `u`@`%`'], 'my_app', 'read-only').status).toBe('ok')
    expect(judgeRights(['GRANT SELECT ON `a.p`.* TO `u`@`%`'], 'axp', 'read-only').status).toBe('failed')
  })

  it('warns of rights that exceed the need', () => {
    expect(judge(['GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION']).note).toBe(
      'more than needed: ALL PRIVILEGES on *.*, GRANT OPTION on *.*'
    )
    expect(judge(['GRANT FILE, SUPER, PROCESS ON *.* TO `u`@`%`', 'GRANT SELECT ON `app`.* TO `u`@`%`']).note).toBe(
      'more than needed: FILE on *.*, SUPER on *.*'
    )
    expect(judge(['GRANT SELECT, DELETE ON `app`.* TO `u`@`%`']).note).toBe('more than needed: DELETE')
  })

  it('warns of missing rights to write, of single tables, and of roles', () => {
    expect(judge(['GRANT SELECT, INSERT ON `app`.* TO `u`@`%`'], 'read-write').note).toBe('missing: UPDATE, DELETE')
    expect(judge(['GRANT SELECT (`a`, `b`) ON `app`.`task` TO `u`@`%`'])).toMatchObject({ status: 'warning' })
    expect(judge(['GRANT `reader`@`%` TO `u`@`%`']).note).toBe('rights come through roles and are not shown')
  })

  it('takes away what was revoked in part', () => {
    expect(judge(['GRANT SELECT ON *.* TO `u`@`%`', 'REVOKE SELECT ON `app`.* FROM `u`@`%`']).status).toBe('failed')
  })
})
