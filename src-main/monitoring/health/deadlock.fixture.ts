/** SHOW ENGINE INNODB STATUS of MariaDB after a deadlock of two claims, as far as it is read. */
export const deadlockReport = `
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
