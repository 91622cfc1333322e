import type { Connection } from 'mysql2/promise'
import { retryPolicy, type TaskState } from '../../src-main/kernel/index.ts'
import type { AttemptRow, Evidence, FinalTask, WitnessEvent } from './evidence.ts'

/*
 * Evidence that does not trust the engine: triggers on the task table write every change of state or attempt into a table of
 * their own, in the same transaction, with the account of the session. Each worker process logs in with an account of its own, which
 * is also its worker id.
 */

const witnessTable = `CREATE TABLE witness (
  seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  task_id BIGINT UNSIGNED NOT NULL,
  type VARCHAR(100) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  from_state VARCHAR(16) NULL,
  to_state VARCHAR(16) NOT NULL,
  attempt_before INT UNSIGNED NOT NULL,
  attempt_after INT UNSIGNED NOT NULL,
  attempts_used INT UNSIGNED NOT NULL,
  worker_before VARCHAR(100) NULL,
  worker_after VARCHAR(100) NULL,
  account VARCHAR(128) NOT NULL,
  lease_over_us BIGINT NULL,
  due_in_us BIGINT NOT NULL,
  next_due_in_us BIGINT NOT NULL,
  lease_us BIGINT NULL,
  at DATETIME(6) NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4`

const columns =
  'task_id, type, owner, from_state, to_state, attempt_before, attempt_after, attempts_used, worker_before, worker_after, account, lease_over_us, due_in_us, next_due_in_us, lease_us, at'
const account = `SUBSTRING_INDEX(USER(), '@', 1)`
const untilUs = (column: string): string => `TIMESTAMPDIFF(MICROSECOND, NOW(6), ${column})`

const onInsert = `CREATE TRIGGER witness_insert AFTER INSERT ON taskdeck_task FOR EACH ROW
  INSERT INTO witness (${columns}) VALUES (NEW.id, NEW.type, NEW.owner, NULL, NEW.state, 0, NEW.attempt, NEW.attempts_used,
    NULL, NEW.worker_id, ${account}, NULL, ${untilUs('NEW.run_at')}, ${untilUs('NEW.run_at')}, NULL, NOW(6))`

/** What a leased task's holder alone may write. */
const touched = ['lease_until', 'progress_processed', 'checkpoint']
  .map((column) => `NOT (NEW.${column} <=> OLD.${column})`)
  .join(' OR ')

const onUpdate = `CREATE TRIGGER witness_update AFTER UPDATE ON taskdeck_task FOR EACH ROW
  IF NEW.state <> OLD.state OR NEW.attempt <> OLD.attempt
    OR (OLD.state IN ('RUNNING', 'CANCEL_REQUESTED') AND ${account} <> OLD.worker_id AND (${touched})) THEN
    INSERT INTO witness (${columns}) VALUES (NEW.id, NEW.type, NEW.owner, OLD.state, NEW.state, OLD.attempt, NEW.attempt,
      NEW.attempts_used, OLD.worker_id, NEW.worker_id, ${account}, -${untilUs('OLD.lease_until')},
      ${untilUs('OLD.run_at')}, ${untilUs('NEW.run_at')}, ${untilUs('NEW.lease_until')}, NOW(6));
  END IF`

/** While a row is in `fault_switch`, that share of the workers' updates fails with its number, inside of their transaction. */
const faultSwitch = 'CREATE TABLE fault_switch (errno INT NOT NULL, chance DOUBLE NOT NULL) ENGINE = InnoDB'
const onFault = `CREATE TRIGGER fault_update BEFORE UPDATE ON taskdeck_task FOR EACH ROW
  BEGIN
    DECLARE wanted INT DEFAULT (SELECT errno FROM fault_switch WHERE RAND() < chance LIMIT 1);
    IF wanted IS NOT NULL AND ${account} LIKE 'w%' THEN
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = wanted, MESSAGE_TEXT = 'injected by the fault run';
    END IF;
  END`

export async function installWitness(connection: Connection): Promise<void> {
  for (const statement of [witnessTable, onInsert, onUpdate, faultSwitch, onFault]) await connection.query(statement)
}

type Row = Readonly<Record<string, string | number | null>>

const pageRows = 50_000

/** In pages: a long run has some hundred thousand events. */
async function readAll(connection: Connection, select: string, key: string): Promise<Row[]> {
  const all: Row[] = []
  for (let after = '0'; ;) {
    const [rows] = await connection.query(`${select} WHERE ${key} > ${after} ORDER BY ${key} LIMIT ${pageRows}`)
    const page = rows as Row[]
    all.push(...page)
    const last = page.at(-1)?.[key]
    if (page.length < pageRows || last === undefined) return all
    after = String(last)
  }
}

export type DatabaseEvidence = Pick<Evidence, 'final' | 'events' | 'attempts'>

export async function collectEvidence(connection: Connection): Promise<DatabaseEvidence> {
  const events = await readAll(
    connection,
    "SELECT *, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', at) AS at_us FROM witness",
    'seq'
  )
  const tasks = await readAll(
    connection,
    'SELECT id, type, state, attempt, attempts_used, max_attempts, retry_policy, title FROM taskdeck_task',
    'id'
  )
  const [attempts] = await connection.query('SELECT task_id, attempt, outcome FROM taskdeck_attempt')
  const [letters] = await connection.query(
    "SELECT task_id, COUNT(*) AS n, SUM(resolution = 'OPEN') AS open FROM taskdeck_dead_letter GROUP BY task_id"
  )
  const lettersOf = new Map((letters as Row[]).map((row) => [String(row['task_id']), row]))
  return {
    final: new Map(tasks.map((row) => [String(row['id']), toFinal(row, lettersOf)])),
    attempts: (attempts as Row[]).map((row): AttemptRow => ({
      taskId: String(row['task_id']),
      attempt: Number(row['attempt']),
      outcome: String(row['outcome'])
    })),
    events: events.map(toEvent)
  }
}

function toFinal(row: Row, letters: ReadonlyMap<string, Row>): FinalTask {
  const ofTask = letters.get(String(row['id']))
  const policy = row['retry_policy']
  return {
    type: String(row['type']),
    state: row['state'] as TaskState,
    attempt: Number(row['attempt']),
    attemptsUsed: Number(row['attempts_used']),
    maxAttempts: row['max_attempts'] === null ? null : Number(row['max_attempts']),
    retryPolicy: typeof policy === 'string' ? retryPolicy.parse(JSON.parse(policy)) : null,
    title: String(row['title']),
    deadLetters: { all: Number(ofTask?.['n'] ?? 0), open: Number(ofTask?.['open'] ?? 0) }
  }
}

const inMs = (us: string | number | null | undefined): number | null =>
  us === null || us === undefined ? null : Number(us) / 1_000

const toEvent = (row: Row): WitnessEvent => ({
  seq: Number(row['seq']),
  atMs: Number(row['at_us']) / 1_000,
  taskId: String(row['task_id']),
  type: String(row['type']),
  owner: String(row['owner']),
  from: row['from_state'] as TaskState | null,
  to: row['to_state'] as TaskState,
  attemptBefore: Number(row['attempt_before']),
  attemptAfter: Number(row['attempt_after']),
  attemptsUsed: Number(row['attempts_used']),
  workerBefore: row['worker_before'] as string | null,
  workerAfter: row['worker_after'] as string | null,
  account: String(row['account']),
  leaseExpired: (inMs(row['lease_over_us']) ?? -1) >= 0,
  leaseOverMs: inMs(row['lease_over_us']),
  dueInMs: Number(row['due_in_us']) / 1_000,
  nextDueInMs: Number(row['next_due_in_us']) / 1_000,
  leaseMs: inMs(row['lease_us'])
})

/** How many tasks of this type schedules made, and at how many different times. */
export async function countTicks(connection: Connection, type: string): Promise<{ tasks: number; ticks: number }> {
  const [rows] = await connection.query(
    `SELECT COUNT(*) AS tasks, COUNT(DISTINCT at + INTERVAL next_due_in_us MICROSECOND) AS ticks
     FROM witness WHERE from_state IS NULL AND type = ?`,
    [type]
  )
  const [row] = rows as Row[]
  return { tasks: Number(row?.['tasks']), ticks: Number(row?.['ticks']) }
}
