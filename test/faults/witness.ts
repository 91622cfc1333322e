import type { Connection } from 'mysql2/promise'
import type { TaskState } from '../../src-main/kernel/index.ts'
import type { AttemptRow, Evidence, WitnessEvent } from './checker.ts'

/*
 * Evidence that does not trust the engine: triggers on the task table write every change of state or attempt into a table of
 * their own, in the same transaction, with the account of the session. Each worker process logs in with an account of its own.
 */

const witnessTable = `CREATE TABLE witness (
  seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  task_id BIGINT UNSIGNED NOT NULL,
  from_state VARCHAR(16) NULL,
  to_state VARCHAR(16) NOT NULL,
  attempt_before INT UNSIGNED NOT NULL,
  attempt_after INT UNSIGNED NOT NULL,
  worker_before VARCHAR(100) NULL,
  worker_after VARCHAR(100) NULL,
  account VARCHAR(128) NOT NULL,
  lease_expired TINYINT NOT NULL
) ENGINE = InnoDB`

const onInsert = `CREATE TRIGGER witness_insert AFTER INSERT ON taskdeck_task FOR EACH ROW
  INSERT INTO witness (task_id, from_state, to_state, attempt_before, attempt_after, worker_before, worker_after, account, lease_expired)
  VALUES (NEW.id, NULL, NEW.state, 0, NEW.attempt, NULL, NEW.worker_id, SUBSTRING_INDEX(USER(), '@', 1), 0)`

const onUpdate = `CREATE TRIGGER witness_update AFTER UPDATE ON taskdeck_task FOR EACH ROW
  IF NEW.state <> OLD.state OR NEW.attempt <> OLD.attempt THEN
    INSERT INTO witness (task_id, from_state, to_state, attempt_before, attempt_after, worker_before, worker_after, account, lease_expired)
    VALUES (NEW.id, OLD.state, NEW.state, OLD.attempt, NEW.attempt, OLD.worker_id, NEW.worker_id, SUBSTRING_INDEX(USER(), '@', 1),
            COALESCE(OLD.lease_until <= NOW(6), 0));
  END IF`

export async function installWitness(connection: Connection): Promise<void> {
  for (const statement of [witnessTable, onInsert, onUpdate]) await connection.query(statement)
}

interface Row {
  [column: string]: string | number | null
}

async function read(connection: Connection, sql: string): Promise<Row[]> {
  const [rows] = await connection.query(sql)
  return rows as Row[]
}

export async function collectEvidence(connection: Connection, submitted: readonly string[]): Promise<Evidence> {
  const events = await read(connection, 'SELECT * FROM witness ORDER BY seq')
  const tasks = await read(connection, 'SELECT id, state, attempt FROM taskdeck_task')
  const attempts = await read(connection, 'SELECT task_id, attempt, outcome FROM taskdeck_attempt')
  return {
    submitted,
    final: new Map(
      tasks.map((row) => [String(row['id']), { state: row['state'] as TaskState, attempt: Number(row['attempt']) }])
    ),
    attempts: attempts.map((row): AttemptRow => ({
      taskId: String(row['task_id']),
      attempt: Number(row['attempt']),
      outcome: String(row['outcome'])
    })),
    events: events.map((row): WitnessEvent => ({
      seq: Number(row['seq']),
      taskId: String(row['task_id']),
      from: row['from_state'] as TaskState | null,
      to: row['to_state'] as TaskState,
      attemptBefore: Number(row['attempt_before']),
      attemptAfter: Number(row['attempt_after']),
      workerBefore: row['worker_before'] as string | null,
      workerAfter: row['worker_after'] as string | null,
      account: String(row['account']),
      leaseExpired: Number(row['lease_expired']) === 1
    }))
  }
}
