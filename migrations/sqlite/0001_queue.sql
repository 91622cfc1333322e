-- The queue's own tables on SQLite: the same tables and columns as migrations/mysql, without what only a lost reply needs.
-- Every time is INTEGER: microseconds since the epoch, UTC, by SQLite's own clock (resolution 1 ms).

CREATE TABLE taskdeck_task (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  state TEXT NOT NULL,
  priority INTEGER NOT NULL,
  -- Not before this; in RETRY_WAIT the time of the next attempt. One column, so that one index serves the claim.
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  state_since INTEGER NOT NULL,
  deadline_at INTEGER,
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  business_key TEXT,
  partition_key TEXT,
  -- SHA-256 over type, owner and key, as on MySQL.
  idempotency_hash BLOB,
  payload_hash BLOB NOT NULL,
  payload TEXT NOT NULL,
  -- NULL in the next three: what the type's policy says when the task is claimed or fails.
  timeout_ms INTEGER,
  max_attempts INTEGER,
  retry_policy TEXT,
  -- In CREATED: held by its producer until it is released; tasks that it still waits for (taskdeck_dependency).
  held INTEGER NOT NULL DEFAULT 0,
  waits_for INTEGER NOT NULL DEFAULT 0,
  -- Others wait for this task: whoever ends it looks into taskdeck_dependency.
  has_dependents INTEGER NOT NULL DEFAULT 0,
  -- The fence: claims so far. Never reset.
  attempt INTEGER NOT NULL DEFAULT 0,
  -- Claims that count against max_attempts: not hand-backs; 0 again after an operator's retry.
  attempts_used INTEGER NOT NULL DEFAULT 0,
  worker_id TEXT,
  lease_until INTEGER,
  -- What the claim gave; each renewal gives it again.
  lease_ms INTEGER,
  -- Of the running or last attempt: when it became due and when it was claimed.
  due_at INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  progress_total INTEGER,
  progress_processed INTEGER,
  progress_succeeded INTEGER,
  progress_failed INTEGER,
  progress_skipped INTEGER,
  checkpoint TEXT,
  result TEXT,
  error_code TEXT,
  error_class TEXT,
  error_message TEXT
) STRICT;

CREATE UNIQUE INDEX taskdeck_task_idempotency ON taskdeck_task (idempotency_hash) WHERE idempotency_hash IS NOT NULL;
-- The claim: one range a type and priority, in the order of the claim. Only waiting tasks are in it.
CREATE INDEX taskdeck_task_claim ON taskdeck_task (type, priority, run_at, id) WHERE state IN ('QUEUED', 'RETRY_WAIT');
-- The same owner by owner: for limits of owners and for turns between them.
CREATE INDEX taskdeck_task_turn ON taskdeck_task (type, priority, owner, run_at, id) WHERE state IN ('QUEUED', 'RETRY_WAIT');
-- Only leased tasks have a lease_until, only tasks that ended a finished_at. Type and owner are for the limits.
CREATE INDEX taskdeck_task_lease ON taskdeck_task (lease_until, state, type, owner) WHERE lease_until IS NOT NULL;
CREATE INDEX taskdeck_task_deadline ON taskdeck_task (deadline_at)
  WHERE deadline_at IS NOT NULL AND state IN ('CREATED', 'QUEUED', 'RETRY_WAIT');
CREATE INDEX taskdeck_task_live ON taskdeck_task (type, state) WHERE finished_at IS NULL;
-- Unfinished tasks of an owner, for its quota.
CREATE INDEX taskdeck_task_owner ON taskdeck_task (owner) WHERE finished_at IS NULL;
-- SQLite appends the id to every index: a list of one state, newest first, needs no sort.
CREATE INDEX taskdeck_task_state ON taskdeck_task (state);
CREATE INDEX taskdeck_task_finished ON taskdeck_task (finished_at, type) WHERE finished_at IS NOT NULL;
CREATE INDEX taskdeck_task_created ON taskdeck_task (created_at, type);
CREATE INDEX taskdeck_task_business_key ON taskdeck_task (business_key) WHERE business_key IS NOT NULL;

-- One row an ended attempt, written in the transaction that ends it; the running attempt is in its task's row.
CREATE TABLE taskdeck_attempt (
  task_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  type TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  error_code TEXT,
  error_class TEXT,
  error_message TEXT,
  progress_total INTEGER,
  progress_processed INTEGER,
  progress_succeeded INTEGER,
  progress_failed INTEGER,
  progress_skipped INTEGER,
  PRIMARY KEY (task_id, attempt)
) STRICT, WITHOUT ROWID;

-- Counting by type and outcome, and the durations of the newest attempts, without touching the table.
CREATE INDEX taskdeck_attempt_ended ON taskdeck_attempt (ended_at, outcome, type, started_at, due_at);

CREATE TABLE taskdeck_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;

CREATE INDEX taskdeck_log_task ON taskdeck_log (task_id, id);

-- Files stay where the worker put them; the row says where and until when.
CREATE TABLE taskdeck_artifact (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  host TEXT NOT NULL,
  path TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX taskdeck_artifact_task ON taskdeck_artifact (task_id, id);

-- One row a task that another one waits for.
CREATE TABLE taskdeck_dependency (
  task_id INTEGER NOT NULL,
  waits_for_id INTEGER NOT NULL,
  -- FAIL or RELEASE: what becomes of task_id when waits_for_id ends badly.
  after_failure TEXT NOT NULL,
  -- Set when waits_for_id ended.
  settled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task_id, waits_for_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX taskdeck_dependency_waits_for ON taskdeck_dependency (waits_for_id) WHERE settled = 0;

-- Tasks that ended and still have dependents to release or to fail: more than one transaction takes. Whoever recovers goes on.
CREATE TABLE taskdeck_ending (
  task_id INTEGER PRIMARY KEY
) STRICT;

-- One row a task that ended FAILED, written in the transaction that ends it.
CREATE TABLE taskdeck_dead_letter (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL,
  -- The task's attempt when it died; 0 when it never ran.
  attempt INTEGER NOT NULL,
  type TEXT NOT NULL,
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  died_at INTEGER NOT NULL,
  -- EXHAUSTED, FINAL, DEADLINE, DEPENDENCY
  reason TEXT NOT NULL,
  first_error_code TEXT,
  first_error_message TEXT,
  last_error_code TEXT,
  last_error_message TEXT,
  -- OPEN, REPLAYED, DISCARDED
  resolution TEXT NOT NULL DEFAULT 'OPEN',
  resolved_at INTEGER,
  -- Who replayed or discarded it; an operator's retry of the task is a replay.
  resolved_by TEXT
) STRICT;

-- Not unique: a task may die twice without an attempt between, by deadlines or by what it waits for.
CREATE INDEX taskdeck_dead_letter_task ON taskdeck_dead_letter (task_id, attempt);
-- Lists and bulk steps, over all types and of one; the rest of the filter is looked up in the index too.
CREATE INDEX taskdeck_dead_letter_newest ON taskdeck_dead_letter (resolution, id, type, reason, last_error_code);
CREATE INDEX taskdeck_dead_letter_type ON taskdeck_dead_letter (resolution, type, id, reason, last_error_code);

-- What an operator set, read by every claim and submission; NULL: not set. Few rows.
CREATE TABLE taskdeck_policy (
  -- QUEUE (name ''), TYPE or OWNER; the name * says what the own row of a type or owner leaves NULL. Nothing of OWNER bounds tasks without one.
  -- DELAYS: a retry_policy with a name, for rows and tasks whose retry_policy is {"kind":"named","name":...}.
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  -- 0: nothing of it is claimed. 1: also when * has 0. NULL: as * says, else 1.
  enabled INTEGER,
  max_running INTEGER,
  max_unfinished INTEGER,
  -- The rest is for types (and QUEUE as the default of all types).
  rate_count INTEGER,
  rate_period_ms INTEGER,
  max_attempts INTEGER,
  retry_policy TEXT,
  retries_per_minute INTEGER,
  timeout_ms INTEGER,
  lease_ms INTEGER,
  fair INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- Tokens of rates and retry budgets. What MySQL needs a row to lock for, SQLite's one writer gives by itself.
CREATE TABLE taskdeck_gate (
  -- RATE, RETRY
  kind TEXT NOT NULL,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  amount REAL NOT NULL DEFAULT 0,
  at INTEGER,
  -- RATE: what was taken before that within the rate's period, JSON [[microseconds since 1970, how many], ...].
  taken TEXT,
  PRIMARY KEY (kind, scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE taskdeck_schedule (
  name TEXT PRIMARY KEY,
  cron TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  -- SKIP, ONCE, ALL: what becomes of ticks that nobody was there for.
  misfire TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  -- The task that a tick submits, JSON as NewTaskInput.
  task TEXT NOT NULL,
  -- NULL: none (disabled, or no schedule that can be read); or written by another program, and still to be counted.
  next_at INTEGER,
  last_tick_at INTEGER,
  last_task_id INTEGER,
  missed INTEGER NOT NULL DEFAULT 0,
  problem TEXT,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is due, and when the next one is.
CREATE INDEX taskdeck_schedule_next ON taskdeck_schedule (next_at);

CREATE TABLE taskdeck_worker (
  id TEXT PRIMARY KEY,
  incarnation TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  status TEXT NOT NULL,
  slots INTEGER NOT NULL,
  running INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  queued INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  last_heartbeat_at INTEGER NOT NULL,
  last_poll_at INTEGER,
  last_claim_at INTEGER,
  claim_p50_ms REAL,
  claim_p95_ms REAL,
  claim_p99_ms REAL,
  database_state TEXT NOT NULL,
  fault TEXT,
  -- QUIET or STOP: asked for by another process; the worker reads it with its next report. Gone with a new incarnation.
  request TEXT,
  -- UDP port on the loopback address where it listens for hints of new work.
  hint_port INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX taskdeck_worker_heartbeat ON taskdeck_worker (last_heartbeat_at);

-- Rows of the built-in CSV import; the key makes a repeated batch harmless.
CREATE TABLE taskdeck_import_row (
  import_key TEXT NOT NULL,
  row_number INTEGER NOT NULL,
  data TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  PRIMARY KEY (import_key, row_number)
) STRICT, WITHOUT ROWID;
