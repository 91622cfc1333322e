-- Two coarser layers for wide ranges: up to where each layer has been made stands in rows, not in columns.

CREATE TABLE rolled_up (
  connection INTEGER NOT NULL,
  step_ms INTEGER NOT NULL,
  -- Up to here the finer layer is in it.
  up_to INTEGER NOT NULL,
  PRIMARY KEY (connection, step_ms)
) STRICT, WITHOUT ROWID;

INSERT INTO rolled_up (connection, step_ms, up_to)
SELECT id, 60000, minutes_to FROM connection UNION ALL SELECT id, 900000, quarters_to FROM connection;

ALTER TABLE connection DROP COLUMN minutes_to;

ALTER TABLE connection DROP COLUMN quarters_to;
