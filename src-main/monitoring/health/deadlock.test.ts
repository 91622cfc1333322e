import { describe, expect, it } from 'vitest'
import { readDeadlock } from './deadlock.ts'

const mariadb = `
=====================================
2026-11-30 02:10:30 0x7f1c INNODB MONITOR OUTPUT
=====================================
Per second averages calculated from the last 5 seconds
-----------------
BACKGROUND THREAD
-----------------
srv_master_thread loops: 10 srv_active, 0 srv_shutdown, 30 srv_idle
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-30 02:09:18 0x7f1c
*** (1) TRANSACTION:
TRANSACTION 43, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s)
MariaDB thread id 812, OS thread handle 139, query id 40 10.0.0.7 taskdeck Updating
UPDATE taskdeck_task SET state = 'RUNNING', error_message = 'token=hunter2' WHERE id = 42
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 8 index PRIMARY of table \`orders\`.\`taskdeck_task\` trx id 43 lock_mode X locks rec but not gap waiting
Record lock, heap no 3 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 8; hex 000000000000002a; asc        *;;
 1: len 6; hex 00000000002b; asc      +;;
 3: len 7; hex 68756e74657232; asc hunter2;;

*** CONFLICTING WITH:
RECORD LOCKS space id 5 page no 3 n bits 8 index PRIMARY of table \`orders\`.\`taskdeck_task\` trx id 44 lock_mode X locks rec but not gap
*** (2) TRANSACTION:
TRANSACTION 44, ACTIVE 0 sec starting index read
MariaDB thread id 813, OS thread handle 139, query id 41 worker-2 10.0.0.8 taskdeck Sending data
SELECT id, payload
FROM taskdeck_task FORCE INDEX (taskdeck_task_claim)
WHERE claim_rank = 5 FOR UPDATE SKIP LOCKED
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 9 n bits 8 index taskdeck_task_claim of table \`orders\`.\`taskdeck_task\` trx id 44 lock_mode X waiting
*** WE ROLL BACK TRANSACTION (2)
------------
TRANSACTIONS
------------
Trx id counter 45
`

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
