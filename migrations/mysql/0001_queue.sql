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
  timeout_ms INT UNSIGNED NULL,
  max_attempts SMALLINT UNSIGNED NOT NULL,
  retry_policy VARCHAR(1000) NOT NULL,
  -- The fence: claims so far. Never reset.
  attempt INT UNSIGNED NOT NULL DEFAULT 0,
  -- Claims that count against max_attempts: not hand-backs; 0 again after an operator's retry.
  attempts_used INT UNSIGNED NOT NULL DEFAULT 0,
  worker_id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
  claim_token BINARY(16) NULL,
  lease_until DATETIME(6) NULL,
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
  waiting_deadline_at DATETIME(6) AS (CASE WHEN state IN ('QUEUED', 'RETRY_WAIT') THEN deadline_at END) STORED,
  -- The outcomes an operator looks for, told apart from the many SUCCESS.
  notable_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin AS (
    CASE WHEN state IN ('FAILED', 'CANCELLED', 'PARTIAL_SUCCESS') THEN state END
  ) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY taskdeck_task_idempotency (idempotency_hash),
  -- The claim: filter, order and id exactly, or SKIP LOCKED starves the second worker. State is for the depth probe.
  KEY taskdeck_task_claim (claim_rank, type, run_at, id, state),
  KEY taskdeck_task_lease (lease_until, state, type),
  KEY taskdeck_task_deadline (waiting_deadline_at),
  KEY taskdeck_task_notable (notable_state, id),
  KEY taskdeck_task_finished (finished_at, type),
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
