import type Database from 'better-sqlite3'

/** What is kept of the past. */
export const keptLimits = {
  incidents: 10_000,
  /** A rule without any hysteresis may fire with each tick. */
  firings: 100_000,
  incidentsMs: 90 * 86_400_000,
  incidentsPerQuery: 500,
  deliveries: 1_000,
  deliveriesPerQuery: 200,
  /** Ended ones included; they say who was silent and why. */
  silences: 1_000
} as const

const firingColumns = `f.id, f.incident, f.rule AS ruleId, f.signal, f.type, f.above, f.since, f.fired_at AS firedAt,
  f.resolved_at AS resolvedAt, f.ended_by AS endedBy, f.peak, f.value, f.silenced, f.told_at AS toldAt`
const incidentColumns = `id, connection AS connectionId, opened_at AS openedAt, resolved_at AS resolvedAt, told,
  acknowledged_at AS acknowledgedAt, acknowledged_by AS acknowledgedBy, note`

/** An incident of this connection that overlaps [from, to]. */
const overlapping = `connection = @connection AND opened_at <= @to AND (resolved_at IS NULL OR resolved_at >= @from)
  ORDER BY opened_at DESC, id LIMIT ${keptLimits.incidentsPerQuery}`
const firingsOf = (incidents: string): string =>
  `SELECT ${firingColumns} FROM firing f WHERE f.incident IN (SELECT id FROM incident WHERE ${incidents}) ORDER BY f.fired_at, f.rowid`

/** The fixed set of statements; each list has a limit or is bounded by limits on what is written. */
export function prepareStatements(db: Database.Database) {
  return {
    ...ruleStatements(db),
    ...incidentStatements(db),
    ...notifierStatements(db),
    forget: ['rule', 'pending', 'silence', 'firing', 'incident', 'delivery'].map((table) =>
      db.prepare(`DELETE FROM ${table} WHERE connection = ?`)
    )
  }
}

function ruleStatements(db: Database.Database) {
  return {
    rules: db.prepare(
      `SELECT id, signal, type, above, clear_at AS clearAt, for_ms AS forMs, clear_for_ms AS clearForMs,
        repeat_ms AS repeatMs, enabled FROM rule WHERE connection = ? ORDER BY rowid`
    ),
    putRule: db.prepare(
      `INSERT INTO rule (connection, id, signal, type, above, clear_at, for_ms, clear_for_ms, repeat_ms, enabled)
        VALUES (@connectionId, @id, @signal, @type, @above, @clearAt, @forMs, @clearForMs, @repeatMs, @enabled)
        ON CONFLICT DO UPDATE SET signal = excluded.signal, type = excluded.type, above = excluded.above,
          clear_at = excluded.clear_at, for_ms = excluded.for_ms, clear_for_ms = excluded.clear_for_ms,
          repeat_ms = excluded.repeat_ms, enabled = excluded.enabled`
    ),
    dropRule: db.prepare('DELETE FROM rule WHERE connection = ? AND id = ?'),
    pendings: db.prepare(
      `SELECT rule AS ruleId, since, known_at AS knownAt, spacing_ms AS spacingMs, above_ms AS aboveMs, peak, value
        FROM pending WHERE connection = ?`
    ),
    putPending: db.prepare(
      `INSERT OR REPLACE INTO pending (connection, rule, since, known_at, spacing_ms, above_ms, peak, value)
        VALUES (@connectionId, @ruleId, @since, @knownAt, @spacingMs, @aboveMs, @peak, @value)`
    ),
    dropPending: db.prepare('DELETE FROM pending WHERE connection = ? AND rule = ?'),
    silences: db.prepare(
      `SELECT id, connection AS connectionId, rule AS ruleId, starts AS "from", ends AS until, reason, made_by AS by
        FROM silence WHERE ends > ? ORDER BY starts, rowid`
    ),
    putSilence: db.prepare(
      `INSERT INTO silence (id, connection, rule, starts, ends, reason, made_by)
        VALUES (@id, @connectionId, @ruleId, @from, @until, @reason, @by)`
    ),
    endSilence: db.prepare('UPDATE silence SET ends = min(ends, ?) WHERE id = ?'),
    trimSilences: db.prepare(
      `DELETE FROM silence WHERE ends <= ? AND rowid NOT IN (SELECT rowid FROM silence ORDER BY ends DESC LIMIT ${keptLimits.silences})`
    )
  }
}

function incidentStatements(db: Database.Database) {
  const newest = `SELECT id FROM incident ORDER BY opened_at DESC LIMIT ${keptLimits.incidents}`
  return {
    incident: db.prepare(`SELECT ${incidentColumns} FROM incident WHERE id = @id`),
    firingsOfIncident: db.prepare(firingsOf('id = @id')),
    incidents: db.prepare(`SELECT ${incidentColumns} FROM incident WHERE ${overlapping}`),
    firings: db.prepare(firingsOf(overlapping)),
    openIncidents: db.prepare(
      `SELECT ${incidentColumns} FROM incident WHERE connection = @connection AND resolved_at IS NULL`
    ),
    openFirings: db.prepare(firingsOf('connection = @connection AND resolved_at IS NULL')),
    lastResolved: db
      .prepare(
        'SELECT id FROM incident WHERE connection = ? AND resolved_at IS NOT NULL ORDER BY opened_at DESC LIMIT 1'
      )
      .pluck(),
    putIncident: db.prepare(
      `INSERT INTO incident (id, connection, opened_at, resolved_at, told, acknowledged_at, acknowledged_by, note)
        VALUES (@id, @connectionId, @openedAt, @resolvedAt, @told, @acknowledgedAt, @acknowledgedBy, @note)
        ON CONFLICT DO UPDATE SET resolved_at = excluded.resolved_at, told = excluded.told,
          acknowledged_at = excluded.acknowledged_at, acknowledged_by = excluded.acknowledged_by, note = excluded.note`
    ),
    putFiring: db.prepare(
      `INSERT INTO firing (id, incident, connection, rule, signal, type, above, since, fired_at, resolved_at, ended_by,
          peak, value, silenced, told_at)
        VALUES (@id, @incident, @connectionId, @ruleId, @signal, @type, @above, @since, @firedAt, @resolvedAt, @endedBy,
          @peak, @value, @silenced, @toldAt)
        ON CONFLICT DO UPDATE SET resolved_at = excluded.resolved_at, ended_by = excluded.ended_by, peak = excluded.peak,
          value = excluded.value, silenced = excluded.silenced, told_at = excluded.told_at`
    ),
    countFired: db.prepare(
      'SELECT rule AS ruleId, count(*) AS fired FROM firing WHERE connection = ? AND fired_at >= ? GROUP BY rule'
    ),
    newestResolved: db.prepare('SELECT max(resolved_at) FROM incident').pluck(),
    trimByAge: db.prepare('DELETE FROM incident WHERE resolved_at < ?'),
    trimByFirings: db.prepare(
      `DELETE FROM incident WHERE resolved_at IS NOT NULL AND id IN (SELECT incident FROM firing WHERE rowid <=
        (SELECT rowid FROM firing ORDER BY rowid DESC LIMIT 1 OFFSET ${keptLimits.firings}))`
    ),
    trimByCount: db.prepare(`DELETE FROM incident WHERE resolved_at IS NOT NULL AND id NOT IN (${newest})`)
  }
}

function notifierStatements(db: Database.Database) {
  return {
    notifiers: db.prepare('SELECT id, name, kind, format, template, enabled, host FROM notifier ORDER BY rowid'),
    putNotifier: db.prepare(
      `INSERT INTO notifier (id, name, kind, format, template, enabled, host)
        VALUES (@id, @name, @kind, @format, @template, @enabled, @host)
        ON CONFLICT DO UPDATE SET name = excluded.name, kind = excluded.kind, format = excluded.format,
          template = excluded.template, enabled = excluded.enabled, host = excluded.host`
    ),
    dropNotifier: db.prepare('DELETE FROM notifier WHERE id = ?'),
    putDelivery: db.prepare(
      `INSERT INTO delivery (id, notifier, connection, incident, what, at, status, tries, answer, ms)
        VALUES (@id, @notifierId, @connectionId, @incidentId, @what, @at, @status, @tries, @answer, @ms)
        ON CONFLICT DO UPDATE SET at = excluded.at, status = excluded.status, tries = excluded.tries,
          answer = excluded.answer, ms = excluded.ms`
    ),
    deliveries: db.prepare(
      `SELECT id, notifier AS notifierId, connection AS connectionId, incident AS incidentId, what, at, status, tries,
        answer, ms FROM delivery ORDER BY seq DESC LIMIT ${keptLimits.deliveriesPerQuery}`
    ),
    wasSent: db.prepare(
      "SELECT 1 FROM delivery WHERE notifier = ? AND incident = ? AND what IN ('fired', 'repeated') LIMIT 1"
    ),
    // Who was sent that an incident fires is sent that it is over, however long that takes.
    trimDeliveries: db.prepare(
      `DELETE FROM delivery
        WHERE seq <= (SELECT seq FROM delivery ORDER BY seq DESC LIMIT 1 OFFSET ${keptLimits.deliveries})
          AND NOT (what = 'fired' AND EXISTS (SELECT 1 FROM incident WHERE id = delivery.incident AND resolved_at IS NULL))`
    )
  }
}
