-- The queue's own tables. InnoDB, utf8mb4, DATETIME(6) in UTC by the database's clock.
-- Valid for MySQL 8.0, 8.4 and MariaDB 10.6 or newer (SKIP LOCKED).

CREATE TABLE taskdeck_task (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  type VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  priority TINYINT UNSIGNED NOT NULL,
  -- Not before this; in RETRY_WAIT the time of the next attempt. One column, so that one index serves the claim.
  run_at DATETIME(6) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  state_since DATETIME(6) NOT NULL,
  deadline_at DATETIME(6) NULL,
  owner VARCHAR(100) NOT NULL,
  title VARCHAR(200) NOT NULL,
  business_key VARCHAR(200) NULL,
  partition_key VARCHAR(200) NULL,
  -- SHA-256 over type, owner and key: collations equate different keys (see docs/decisions).
  idempotency_hash BINARY(32) NULL,
  payload_hash BINARY(32) NOT NULL,
  payload LONGTEXT NOT NULL,
  -- NULL in the next three: what the type's policy says when the task is claimed or fails.
  timeout_ms INT UNSIGNED NULL,
  max_attempts SMALLINT UNSIGNED NULL,
  retry_policy VARCHAR(1000) NULL,
  -- In CREATED: held by its producer until it is released; tasks that it still waits for (taskdeck_dependency).
  held TINYINT UNSIGNED NOT NULL DEFAULT 0,
  waits_for INT UNSIGNED NOT NULL DEFAULT 0,
  -- Others wait for this task: whoever ends it looks into taskdeck_dependency.
  has_dependents TINYINT UNSIGNED NOT NULL DEFAULT 0,
  -- The fence: claims so far. Never reset.
  attempt INT UNSIGNED NOT NULL DEFAULT 0,
  -- Claims that count against max_attempts: not hand-backs; 0 again after an operator's retry.
  attempts_used INT UNSIGNED NOT NULL DEFAULT 0,
  worker_id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
  claim_token BINARY(16) NULL,
  lease_until DATETIME(6) NULL,
  -- What the claim gave; each renewal gives it again.
  lease_ms INT UNSIGNED NULL,
  -- Of the running or last attempt: when it became due and when it was claimed.
  due_at DATETIME(6) NULL,
  started_at DATETIME(6) NULL,
  finished_at DATETIME(6) NULL,
  progress_total BIGINT UNSIGNED NULL,
  progress_processed BIGINT UNSIGNED NULL,
  progress_succeeded BIGINT UNSIGNED NULL,
  progress_failed BIGINT UNSIGNED NULL,
  progress_skipped BIGINT UNSIGNED NULL,
  checkpoint MEDIUMTEXT NULL,
  result MEDIUMTEXT NULL,
  error_code VARCHAR(64) NULL,
  error_class VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  error_message TEXT NULL,
  -- The next three follow from the columns above and are NULL in the states that their index does not serve: the end of an
  -- attempt then leaves three of these indexes alone (docs/decisions/0001-claim-design.md).
  -- 0 to 9: waiting, the priority. 100 to 109: held (CREATED, PAUSED).
  claim_rank TINYINT UNSIGNED AS (
    CASE
      WHEN state IN ('QUEUED', 'RETRY_WAIT') THEN priority
      WHEN state IN ('CREATED', 'PAUSED') THEN 100 + priority
    END
  ) STORED,
  waiting_deadline_at DATETIME(6) AS (CASE WHEN state IN ('CREATED', 'QUEUED', 'RETRY_WAIT') THEN deadline_at END) STORED,
  -- The outcomes an operator looks for, told apart from the many SUCCESS.
  notable_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin AS (
    CASE WHEN state IN ('FAILED', 'CANCELLED', 'PARTIAL_SUCCESS') THEN state END
  ) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY taskdeck_task_idempotency (idempotency_hash),
  -- The claim: filter, order and id exactly, or SKIP LOCKED starves the second worker. State is for the depth probe.
  KEY taskdeck_task_claim (claim_rank, type, run_at, id, state),
  -- The same owner by owner: for limits of owners and for turns between them (docs/decisions/0007-policies-and-limits.md).
  KEY taskdeck_task_turn (claim_rank, type, owner, run_at, id),
  -- Expired leases; and how many are live, by type and owner, for the limits.
  KEY taskdeck_task_lease (lease_until, state, type, owner),
  KEY taskdeck_task_deadline (waiting_deadline_at),
  KEY taskdeck_task_notable (notable_state, id),
  -- What ended lately; and, by finished_at IS NULL, what has not ended, for the quotas.
  KEY taskdeck_task_finished (finished_at, type, owner),
  KEY taskdeck_task_created (created_at, type),
  KEY taskdeck_task_business_key (business_key)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row an ended attempt, written in the transaction that ends it; the running attempt is in its task's row.
CREATE TABLE taskdeck_attempt (
  task_id BIGINT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  type VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  worker_id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  due_at DATETIME(6) NOT NULL,
  started_at DATETIME(6) NOT NULL,
  ended_at DATETIME(6) NOT NULL,
  outcome VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  error_code VARCHAR(64) NULL,
  error_class VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  error_message TEXT NULL,
  progress_total BIGINT UNSIGNED NULL,
  progress_processed BIGINT UNSIGNED NULL,
  progress_succeeded BIGINT UNSIGNED NULL,
  progress_failed BIGINT UNSIGNED NULL,
  progress_skipped BIGINT UNSIGNED NULL,
  PRIMARY KEY (task_id, attempt),
  KEY taskdeck_attempt_ended (ended_at, outcome, type)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE taskdeck_log (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  task_id BIGINT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  at DATETIME(6) NOT NULL,
  level VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (id),
  KEY taskdeck_log_task (task_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Files stay where the worker put them; the row says where and until when.
CREATE TABLE taskdeck_artifact (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  task_id BIGINT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  name VARCHAR(200) NOT NULL,
  content_type VARCHAR(100) NOT NULL,
  bytes BIGINT UNSIGNED NOT NULL,
  host VARCHAR(255) NOT NULL,
  path VARCHAR(1000) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  expires_at DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY taskdeck_artifact_task (task_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row a task that another one waits for.
CREATE TABLE taskdeck_dependency (
  task_id BIGINT UNSIGNED NOT NULL,
  waits_for_id BIGINT UNSIGNED NOT NULL,
  -- FAIL or RELEASE: what becomes of task_id when waits_for_id ends badly.
  after_failure VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Set when waits_for_id ended.
  settled TINYINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (task_id, waits_for_id),
  KEY taskdeck_dependency_waits_for (waits_for_id, settled, task_id, after_failure)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Tasks that ended and still have dependents to release or to fail: more than one transaction takes. Whoever recovers goes on.
CREATE TABLE taskdeck_ending (
  task_id BIGINT UNSIGNED NOT NULL,
  -- Dependents up to this id are done.
  done_up_to BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (task_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row a task that ended FAILED, written in the transaction that ends it.
CREATE TABLE taskdeck_dead_letter (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  task_id BIGINT UNSIGNED NOT NULL,
  -- The task's attempt when it died; 0 when it never ran.
  attempt INT UNSIGNED NOT NULL,
  type VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner VARCHAR(100) NOT NULL,
  title VARCHAR(200) NOT NULL,
  died_at DATETIME(6) NOT NULL,
  -- EXHAUSTED, FINAL, DEADLINE, DEPENDENCY
  reason VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  first_error_code VARCHAR(64) NULL,
  first_error_message TEXT NULL,
  last_error_code VARCHAR(64) NULL,
  last_error_message TEXT NULL,
  -- OPEN, REPLAYED, DISCARDED
  resolution VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'OPEN',
  resolved_at DATETIME(6) NULL,
  -- Who replayed or discarded it; an operator's retry of the task is a replay.
  resolved_by VARCHAR(128) NULL,
  PRIMARY KEY (id),
  -- Not unique: a task may die twice without an attempt between, by deadlines or by what it waits for.
  KEY taskdeck_dead_letter_task (task_id, attempt),
  -- Lists and bulk steps, over all types and of one; the rest of the filter is looked up in the index too.
  KEY taskdeck_dead_letter_newest (resolution, id, type, reason, last_error_code),
  KEY taskdeck_dead_letter_type (resolution, type, id, reason, last_error_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What an operator set, read by every claim and submission; NULL: not set. Few rows.
CREATE TABLE taskdeck_policy (
  -- QUEUE (name ''), TYPE or OWNER; the name * says what the own row of a type or owner leaves NULL. Nothing of OWNER bounds tasks without one.
  -- DELAYS: a retry_policy with a name, for rows and tasks whose retry_policy is {"kind":"named","name":...}.
  scope VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(100) NOT NULL,
  -- 0: nothing of it is claimed. 1: also when * has 0. NULL: as * says, else 1.
  enabled TINYINT UNSIGNED NULL,
  max_running INT UNSIGNED NULL,
  max_unfinished INT UNSIGNED NULL,
  -- The rest is for types (and QUEUE as the default of all types).
  rate_count INT UNSIGNED NULL,
  rate_period_ms INT UNSIGNED NULL,
  max_attempts SMALLINT UNSIGNED NULL,
  retry_policy VARCHAR(1000) NULL,
  retries_per_minute INT UNSIGNED NULL,
  timeout_ms INT UNSIGNED NULL,
  lease_ms INT UNSIGNED NULL,
  fair TINYINT UNSIGNED NULL,
  updated_at DATETIME(6) NOT NULL,
  PRIMARY KEY (scope, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Locked while a limit is checked and taken up, so that two processes never take up the same room. A row appears with its first use.
CREATE TABLE taskdeck_gate (
  -- RUN, RATE, QUOTA, RETRY
  kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  scope VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(100) NOT NULL,
  -- RETRY: tokens left at `at`. RATE: taken last, at `at`. QUOTA: tasks that may still be submitted before they are counted again; `at` is the updated_at of
  -- the policy that they were counted for (NULL: count them). RUN: unused.
  amount DOUBLE NOT NULL DEFAULT 0,
  at DATETIME(6) NULL,
  -- RATE: what was taken before that within the rate's period, JSON [[microseconds since 1970, how many], ...].
  taken VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (kind, scope, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE taskdeck_schedule (
  name VARCHAR(100) NOT NULL,
  cron VARCHAR(200) NOT NULL,
  time_zone VARCHAR(64) NOT NULL,
  -- SKIP, ONCE, ALL: what becomes of ticks that nobody was there for.
  misfire VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  enabled TINYINT UNSIGNED NOT NULL DEFAULT 1,
  -- The task that a tick submits, JSON as NewTaskInput.
  task MEDIUMTEXT NOT NULL,
  -- NULL: none (disabled, or no schedule that can be read); or written by another program, and still to be counted.
  next_at DATETIME(6) NULL,
  last_tick_at DATETIME(6) NULL,
  last_task_id BIGINT UNSIGNED NULL,
  missed INT UNSIGNED NOT NULL DEFAULT 0,
  problem VARCHAR(400) NULL,
  updated_at DATETIME(6) NOT NULL,
  PRIMARY KEY (name),
  -- What is due, and when the next one is.
  KEY taskdeck_schedule_next (next_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE taskdeck_worker (
  id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  incarnation VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid INT UNSIGNED NOT NULL,
  version VARCHAR(40) NOT NULL,
  status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slots INT UNSIGNED NOT NULL,
  running INT UNSIGNED NOT NULL,
  threads INT UNSIGNED NOT NULL,
  queued INT UNSIGNED NOT NULL,
  started_at DATETIME(6) NOT NULL,
  last_heartbeat_at DATETIME(6) NOT NULL,
  last_poll_at DATETIME(6) NULL,
  last_claim_at DATETIME(6) NULL,
  claim_p50_ms DOUBLE NULL,
  claim_p95_ms DOUBLE NULL,
  claim_p99_ms DOUBLE NULL,
  database_state VARCHAR(64) NOT NULL,
  fault VARCHAR(400) NULL,
  -- QUIET or STOP: asked for by another process; the worker reads it with its next report. Gone with a new incarnation.
  request VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- UDP port on the loopback address where it listens for hints of new work.
  hint_port SMALLINT UNSIGNED NULL,
  PRIMARY KEY (id),
  KEY taskdeck_worker_heartbeat (last_heartbeat_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Rows of the built-in CSV import; the key makes a repeated batch harmless.
CREATE TABLE taskdeck_import_row (
  import_key VARCHAR(200) NOT NULL,
  `row_number` INT UNSIGNED NOT NULL,
  data LONGTEXT NOT NULL,
  imported_at DATETIME(6) NOT NULL,
  PRIMARY KEY (import_key, `row_number`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
