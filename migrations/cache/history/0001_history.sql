-- What the app remembers of the queues it watched. May be thrown away at any time.

CREATE TABLE connection (
  -- Never used twice, so that rows of a removed connection can be purged later, in small steps.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  -- Up to here the finer layer has been rolled up into minutes and quarters of an hour.
  minutes_to INTEGER NOT NULL DEFAULT 0,
  quarters_to INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE series (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  connection INTEGER NOT NULL,
  metric TEXT NOT NULL,
  type TEXT NOT NULL,
  UNIQUE (connection, metric, type)
) STRICT;

-- One row a tick (step_ms 0), minute or quarter of an hour, with all its values in one blob (history/tick-codec.ts).
CREATE TABLE sample (
  id INTEGER PRIMARY KEY,
  connection INTEGER NOT NULL,
  step_ms INTEGER NOT NULL,
  at INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (connection, step_ms, at)
) STRICT;

CREATE TABLE last_reading (
  connection INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  reading TEXT NOT NULL
) STRICT;

CREATE TABLE removed (connection INTEGER PRIMARY KEY) STRICT;
