import { describe, expect, it } from 'vitest'
import { AppError, explain, type SqlDatabase, type SqlRow } from '../../kernel/index.ts'
import { judgePlan, readPlan, type PlannedStatement } from './plans.ts'

const statement: PlannedStatement = {
  name: 'claim',
  sql: 'SELECT id FROM taskdeck_task FORCE INDEX (k) WHERE a = ? ORDER BY b LIMIT ? FOR UPDATE SKIP LOCKED',
  values: [1, 2],
  index: { name: 'k', columns: 'a, b' }
}
const step = (more: Partial<Parameters<typeof judgePlan>[2][number]> = {}) => ({
  access: 'range',
  key: 'k' as string | null,
  rows: 20,
  extra: 'Using where',
  ...more
})

/** Answers with rows, or fails as a server does; keeps what it was asked. */
function server(answer: readonly SqlRow[] | AppError) {
  const asked: string[] = []
  const database: Pick<SqlDatabase, 'execute'> = {
    execute: (sql) => {
      asked.push(sql)
      if (answer instanceof AppError) return Promise.reject(answer)
      return Promise.resolve({ rows: answer, affectedRows: 0, insertId: '0' })
    }
  }
  return { database, asked }
}
const refused = (code: 'SQL_FAILED' | 'NO_RIGHTS' | 'CONNECTION_LOST', errno: number): AppError =>
  new AppError(code, 'operational', 'no', { details: { errno } })

describe('the verdict on a plan', () => {
  it.each([
    [step(), 'good', 'inOrder'],
    [step({ extra: 'Using where; Using filesort' }), 'bad', 'sorts'],
    [step({ extra: 'Using temporary' }), 'bad', 'temporary'],
    [step({ key: 'other' }), 'bad', 'otherIndex'],
    [step({ key: null, access: 'ALL' }), 'bad', 'noIndex'],
    [step({ access: 'ALL' }), 'bad', 'noIndex']
  ])('%o is %s: %s', (one, verdict, advice) => expect(judgePlan('claim', 'k', [one])).toEqual([verdict, advice]))

  it('a look for groups jumps', () => expect(judgePlan('groups', 'k', [step()])).toEqual(['good', 'jumps']))
  it('without steps there is none', () => expect(judgePlan('claim', 'k', [])).toEqual(['info', 'notPlanned']))
})

describe('reading a plan', () => {
  const row = { type: 'range', key: 'k', rows: '20', Extra: 'Using index' }

  it('plans without the lock, and shows the whole text', async () => {
    const { database, asked } = server([row])
    expect(await readPlan(database, statement)).toMatchObject({
      sql: statement.sql,
      withoutLock: true,
      steps: [{ access: 'range', key: 'k', rows: 20 }],
      verdict: 'good',
      remedy: null,
      gap: null
    })
    expect(asked).toEqual([explain('SELECT id FROM taskdeck_task FORCE INDEX (k) WHERE a = ? ORDER BY b LIMIT ?')])
  })

  it('says how to make a missing index, and how to make a wrong one anew', async () => {
    expect(await readPlan(server(refused('SQL_FAILED', 1176)).database, statement)).toMatchObject({
      advice: 'indexMissing',
      remedy: 'ALTER TABLE taskdeck_task ADD KEY k (a, b)'
    })
    expect(await readPlan(server([{ ...row, Extra: 'Using filesort' }]).database, statement)).toMatchObject({
      advice: 'sorts',
      remedy: 'ALTER TABLE taskdeck_task DROP KEY k, ADD KEY k (a, b)'
    })
  })

  it('says when the account may not, and passes on a lost connection', async () => {
    expect(await readPlan(server(refused('NO_RIGHTS', 1142)).database, statement)).toMatchObject({
      advice: 'notPlanned',
      gap: { reason: 'rights', errno: 1142 }
    })
    await expect(readPlan(server(refused('CONNECTION_LOST', 2013)).database, statement)).rejects.toThrow()
  })
})
