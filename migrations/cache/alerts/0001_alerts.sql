-- Rules, silences and notifiers are the user's configuration: this file is never thrown away. Times of incidents, firings and what is pending are the
-- readings' clock, all others the app's; ms since the epoch.

-- A default has a row once it was changed.
CREATE TABLE rule (
  connection TEXT NOT NULL,
  id TEXT NOT NULL,
  signal TEXT NOT NULL,
  type TEXT NOT NULL,
  above REAL NOT NULL,
  clear_at REAL NOT NULL,
  for_ms INTEGER NOT NULL,
  clear_for_ms INTEGER NOT NULL,
  repeat_ms INTEGER,
  enabled INTEGER NOT NULL,
  PRIMARY KEY (connection, id)
) STRICT;

-- Above the threshold and not yet firing: a restart must not make it begin anew.
CREATE TABLE pending (
  connection TEXT NOT NULL,
  rule TEXT NOT NULL,
  since INTEGER NOT NULL,
  known_at INTEGER NOT NULL,
  spacing_ms INTEGER NOT NULL,
  above_ms INTEGER NOT NULL,
  peak REAL NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (connection, rule)
) STRICT;

CREATE TABLE silence (
  id TEXT PRIMARY KEY,
  connection TEXT NOT NULL,
  rule TEXT,
  starts INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  reason TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

CREATE TABLE incident (
  id TEXT PRIMARY KEY,
  connection TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  -- Somebody was told of it, and not yet that it is over.
  told INTEGER NOT NULL,
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  note TEXT
) STRICT;
CREATE INDEX incident_by_time ON incident (connection, opened_at);
CREATE INDEX incident_open ON incident (connection) WHERE resolved_at IS NULL;

CREATE TABLE firing (
  id TEXT PRIMARY KEY,
  incident TEXT NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  connection TEXT NOT NULL,
  rule TEXT NOT NULL,
  signal TEXT NOT NULL,
  type TEXT NOT NULL,
  above REAL NOT NULL,
  since INTEGER NOT NULL,
  fired_at INTEGER NOT NULL,
  resolved_at INTEGER,
  ended_by TEXT,
  peak REAL NOT NULL,
  value REAL NOT NULL,
  silenced INTEGER NOT NULL,
  told_at INTEGER
) STRICT;
CREATE INDEX firing_of_incident ON firing (incident);
CREATE INDEX firing_by_time ON firing (connection, fired_at);

-- Addresses are secrets and kept elsewhere.
CREATE TABLE notifier (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  format TEXT NOT NULL,
  template TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  host TEXT
) STRICT;

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  notifier TEXT NOT NULL,
  connection TEXT,
  incident TEXT,
  what TEXT NOT NULL,
  at INTEGER NOT NULL,
  status TEXT NOT NULL,
  tries INTEGER NOT NULL,
  answer TEXT NOT NULL,
  ms REAL
) STRICT;
