-- What operators did. Rows are only ever added.

CREATE TABLE intent (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  connection TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  count INTEGER NOT NULL,
  request_id TEXT NOT NULL UNIQUE,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE outcome (
  intent INTEGER PRIMARY KEY REFERENCES intent (id),
  at INTEGER NOT NULL,
  result TEXT NOT NULL
) STRICT;

CREATE TRIGGER intent_is_kept BEFORE DELETE ON intent BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER intent_is_fixed BEFORE UPDATE ON intent BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER outcome_is_kept BEFORE DELETE ON outcome BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER outcome_is_fixed BEFORE UPDATE ON outcome BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
