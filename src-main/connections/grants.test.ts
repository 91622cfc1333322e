import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { deniedCommand, deniedDatabase, judgeRights, judgeTableRights } from './grants.ts'

const usage = "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'"
const judge = (lines: string[], mode: 'read-only' | 'read-write' = 'read-only') =>
  judgeRights([usage, ...lines], { database: 'app', accessMode: mode, makesTables: false })
const reading = (database: string) => ({ database, accessMode: 'read-only' as const, makesTables: false })

describe('judgeTableRights', () => {
  const judgeTable = (...lines: string[]) => judgeTableRights([usage, ...lines], { database: 'app', table: 'jobs' })
  const enough = { status: 'ok', notes: [{ code: 'rights', values: { rights: 'SELECT' } }], problem: null }

  it.each([
    'GRANT SELECT ON `app`.`jobs` TO `u`@`%`',
    'GRANT SELECT ON `app`.`Jobs` TO `u`@`%`',
    'GRANT SELECT (`id`, `state`) ON `app`.`jobs` TO `u`@`%`',
    'GRANT SELECT ON `app`.* TO `u`@`%`'
  ])('is content with %s', (line) => {
    expect(judgeTable(line)).toEqual(enough)
  })

  it.each([
    'GRANT SELECT ON `app`.`other` TO `u`@`%`',
    'GRANT SELECT ON `elsewhere`.`jobs` TO `u`@`%`',
    'GRANT INSERT ON `app`.`jobs` TO `u`@`%`'
  ])('fails with %s alone', (line) => {
    expect(judgeTable(line)).toMatchObject({
      status: 'failed',
      problem: { code: 'NO_RIGHTS', details: { database: 'app', table: 'jobs', privilege: 'SELECT' } }
    })
  })

  it('warns of more than reading, and of roles', () => {
    expect(judgeTable('GRANT SELECT, DELETE ON `app`.`jobs` TO `u`@`%`')).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsExcess', values: { rights: 'DELETE' } }]
    })
    expect(judgeTable('GRANT ALL PRIVILEGES ON `app`.`jobs` TO `u`@`%`')).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsExcess', values: { rights: 'ALL PRIVILEGES' } }]
    })
    expect(judgeTable('GRANT `reader`@`%` TO `u`@`%`').notes).toEqual([{ code: 'rightsThroughRoles' }])
  })
})

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
    expect(judgeRights(['GRANT SELECT ON `my\\_app`.* TO `u`@`%`'], reading('my_app')).status).toBe('ok')
    expect(judgeRights(['GRANT SELECT ON `a.p`.* TO `u`@`%`'], reading('axp')).status).toBe('failed')
  })

  it('warns of rights that exceed the need', () => {
    const excess = (rights: string) => [{ code: 'rightsExcess', values: { rights } }]
    expect(judge(['GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION']).notes).toEqual(
      excess('ALL PRIVILEGES ON *.*, GRANT OPTION ON *.*')
    )
    expect(judge(['GRANT FILE, SUPER, PROCESS ON *.* TO `u`@`%`', 'GRANT SELECT ON `app`.* TO `u`@`%`']).notes).toEqual(
      excess('FILE ON *.*, SUPER ON *.*')
    )
    expect(judge(['GRANT SELECT, DELETE ON `app`.* TO `u`@`%`']).notes).toEqual(excess('DELETE'))
  })

  it('warns of missing rights to write, of single tables, and of roles', () => {
    expect(judge(['GRANT SELECT, INSERT ON `app`.* TO `u`@`%`'], 'read-write').notes).toEqual([
      { code: 'rightsMissing', values: { rights: 'UPDATE, DELETE' } }
    ])
    expect(judge(['GRANT SELECT (`a`, `b`) ON `app`.`task` TO `u`@`%`'])).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsOnTablesOnly', values: { rights: 'SELECT' } }]
    })
    expect(judge(['GRANT `reader`@`%` TO `u`@`%`']).notes).toEqual([{ code: 'rightsThroughRoles' }])
  })

  it('warns of the right to make tables where there are none yet', () => {
    const need = { database: 'app', accessMode: 'read-write', makesTables: true } as const
    const writer = 'GRANT SELECT, INSERT, UPDATE, DELETE ON `app`.* TO `u`@`%`'
    expect(judgeRights([writer], need)).toMatchObject({
      status: 'warning',
      notes: [{ code: 'rightsForTables', values: { rights: 'CREATE' } }]
    })
    expect(judgeRights([writer, 'GRANT CREATE ON `app`.* TO `u`@`%`'], need).status).toBe('ok')
    expect(judgeRights([writer], { ...need, makesTables: false }).status).toBe('ok')
  })

  it('tells of what is missing before what is too much', () => {
    const notes = judge(['GRANT FILE ON *.* TO `u`@`%`', 'GRANT SELECT ON `app`.* TO `u`@`%`'], 'read-write').notes
    expect(notes.map(({ code }) => code)).toEqual(['rightsMissing', 'rightsExcess'])
  })

  it('takes away what was revoked in part', () => {
    expect(judge(['GRANT SELECT ON *.* TO `u`@`%`', 'REVOKE SELECT ON `app`.* FROM `u`@`%`']).status).toBe('failed')
  })
})

describe('a refused database', () => {
  const refusal = new AppError('NO_RIGHTS', 'user', 'No right.', { details: { errno: 1044 } })

  it('is said by its name, with the statement that would grant it', () => {
    const told = deniedDatabase(refusal, { user: "o'hara", database: 'my_app`' }, 'read-write')
    expect(told).toMatchObject({ code: 'NO_RIGHTS', kind: 'user', details: { database: 'my_app`' } })
    expect(told.message).toContain(
      "The account o'hara has no rights on the database my_app`, or there is none of this name"
    )
    expect(told.details['grant']).toBe("GRANT SELECT, INSERT, UPDATE, DELETE ON `my\\_app```.* TO 'o''hara'@'%'")
  })

  it('is told from other missing rights', () => {
    const other = new AppError('NO_RIGHTS', 'user', 'No right.', { details: { errno: 1142 } })
    expect(deniedDatabase(other, { user: 'u', database: 'a' }, 'read-only')).toBe(other)
  })
})

describe('a refused command', () => {
  it('is told with the statement that would allow it', () => {
    const refusal = new AppError('NO_RIGHTS', 'user', 'No.', { details: { errno: 1142, privilege: 'CREATE' } })
    const told = deniedCommand(refusal, { user: 'app', database: 'my_app' })
    expect(told.message).toContain('lacks CREATE on my_app')
    expect(told.details['grant']).toBe("GRANT CREATE ON `my\\_app`.* TO 'app'@'%'")
  })

  it('is left as it is when the server did not say which command', () => {
    const refusal = new AppError('NO_RIGHTS', 'user', 'No.', { details: { errno: 1142 } })
    expect(deniedCommand(refusal, { user: 'app', database: 'a' })).toBe(refusal)
  })
})
