import type Database from 'better-sqlite3'

/** The fixed set of statements; each list has a limit or is bounded by the range that is asked for. */
export function prepareStatements(db: Database.Database) {
  return {
    getConnection: db.prepare('SELECT id FROM connection WHERE name = ?').pluck(),
    addConnection: db.prepare('INSERT INTO connection (name) VALUES (?)'),
    dropConnection: db.prepare('DELETE FROM connection WHERE id = ?'),
    getRolledTo: db.prepare('SELECT step_ms AS stepMs, up_to AS upTo FROM rolled_up WHERE connection = ?'),
    saveRolledTo: db.prepare(
      'INSERT INTO rolled_up (connection, step_ms, up_to) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET up_to = excluded.up_to'
    ),
    dropRolledTo: db.prepare('DELETE FROM rolled_up WHERE connection = ?'),
    getSeries: db.prepare('SELECT id, metric, type FROM series WHERE connection = ?'),
    addSeries: db.prepare('INSERT INTO series (connection, metric, type) VALUES (?, ?, ?)'),
    dropSeries: db.prepare('DELETE FROM series WHERE connection = ?'),
    putSample: db.prepare(
      'INSERT INTO sample (connection, step_ms, at, data) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data'
    ),
    getSamples: db
      .prepare('SELECT at, data FROM sample WHERE connection = ? AND step_ms = ? AND at BETWEEN ? AND ? ORDER BY at')
      .raw(),
    firstTime: db
      .prepare('SELECT min(at) FROM sample WHERE connection = ? AND step_ms = ? AND at >= ? AND at < ?')
      .pluck(),
    deleteOldest: db.prepare(
      `DELETE FROM sample WHERE id IN
         (SELECT id FROM sample WHERE connection = ? AND step_ms = ? AND at < ? ORDER BY at LIMIT ?)`
    ),
    largest: db.prepare(
      `SELECT connection AS id, count(*) AS count FROM sample WHERE step_ms = ?
        GROUP BY connection ORDER BY count DESC LIMIT 1`
    ),
    putReading: db.prepare(
      `INSERT INTO last_reading (connection, at, reading) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET at = excluded.at, reading = excluded.reading`
    ),
    getReading: db.prepare(
      `SELECT r.at, r.reading AS readingJson FROM last_reading r JOIN connection c ON c.id = r.connection WHERE c.name = ?`
    ),
    dropReading: db.prepare('DELETE FROM last_reading WHERE connection = ?'),
    markRemoved: db.prepare('INSERT INTO removed (connection) VALUES (?)'),
    nextRemoved: db.prepare('SELECT connection FROM removed LIMIT 1').pluck(),
    purged: db.prepare('DELETE FROM removed WHERE connection = ?')
  }
}
