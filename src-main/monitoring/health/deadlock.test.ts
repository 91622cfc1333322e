import { describe, expect, it } from 'vitest'
import { deadlockReport } from './deadlock.fixture.ts'
import { readDeadlock } from './deadlock.ts'

const mariadb = deadlockReport
const mysql = mariadb
  .replaceAll('MariaDB thread', 'MySQL thread')
  .replaceAll('*** WAITING FOR', '*** (1) WAITING FOR')
  .replace('*** CONFLICTING WITH:', '*** (1) HOLDS THE LOCK(S):')

describe.each([
  ['MariaDB', mariadb],
  ['MySQL', mysql]
])('the last deadlock of %s', (_, status) => {
  it('has its transactions, what each waited for, and which one gave way', () => {
    expect(readDeadlock(status)).toEqual({
      agoMs: 72_000,
      parties: [
        {
          sessionId: '812',
          host: '10.0.0.7',
          user: 'taskdeck',
          verb: 'UPDATE',
          claims: false,
          rolledBack: false,
          waitsFor: { table: 'taskdeck_task', index: 'PRIMARY', mode: 'X locks rec but not gap' },
          taskId: '42'
        },
        {
          sessionId: '813',
          host: '10.0.0.8',
          user: 'taskdeck',
          verb: 'SELECT',
          claims: true,
          rolledBack: true,
          waitsFor: { table: 'taskdeck_task', index: 'taskdeck_task_claim', mode: 'X' },
          taskId: null
        }
      ]
    })
  })

  it('has nothing of rows and statements', () => {
    expect(JSON.stringify(readDeadlock(status))).not.toMatch(/hunter2|RUNNING|68756e/)
  })
})

describe('a report', () => {
  it('without a deadlock has none', () => {
    expect(readDeadlock('2026-11-30 02:10:30 0x7f INNODB MONITOR OUTPUT\n')).toBeNull()
    expect(readDeadlock('')).toBeNull()
  })

  it('that was cut leaves unknown what is not there', () => {
    const cut = mariadb.slice(0, mariadb.indexOf('*** WAITING FOR'))
    expect(readDeadlock(cut)?.parties).toEqual([
      expect.objectContaining({ sessionId: '812', waitsFor: null, taskId: null })
    ])
  })

  it('whose statement looks like a report shows no text of it', () => {
    const evil = mariadb.replace(
      'SELECT id, payload',
      `INSERT INTO t VALUES ('\n*** (3) TRANSACTION:\nMariaDB thread id 1, OS thread handle 1, query id 1 hunter2 hunter3\nhunter4`
    )
    expect(JSON.stringify(readDeadlock(evil))).not.toContain('hunter4')
  })
})
