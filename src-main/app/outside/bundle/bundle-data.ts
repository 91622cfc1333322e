import type { ConnectionView, Snapshot } from '../../../contract/index.ts'
import type { DatabaseHealth, Incident, QueueReading, WorkerRow } from '../../../kernel/index.ts'
import type { DiaryEntry } from '../diary.ts'
import type { StatusReport } from '../status-report.ts'
import type { Redaction } from './redaction.ts'

/** What is known before anything is left out. Times of `window` are the database's clock, of `changes` and `log` the app's. */
export interface BundleSources {
  readonly madeAt: number
  readonly window: { readonly from: number; readonly to: number }
  /** The database's clock less the app's; null when no reading of this run tells. */
  readonly skewMs: number | null
  readonly versions: BundleVersions
  readonly view: ConnectionView
  readonly status: StatusReport
  readonly snapshot: Snapshot
  readonly incidents: readonly Incident[]
  readonly changes: readonly DiaryEntry[]
  /** Or why the database was not looked at. */
  readonly health: DatabaseHealth | string
  readonly log: readonly string[]
}

export interface BundleVersions {
  readonly taskdeck: string
  readonly shell: string
  readonly node: string
  readonly platform: string
  /** Of the tables; null while they are not the ones of this Taskdeck. */
  readonly schema: number | null
}

/** `data.json`. */
export type BundleData = ReturnType<typeof bundleData>

/** The sources without secrets, and without names unless the user wants them. */
export function bundleData(sources: BundleSources, redaction: Redaction, withNames: boolean) {
  const { madeAt, window, skewMs, versions, view, snapshot } = sources
  const { times, stepMs, series } = snapshot
  return {
    format: 'taskdeck-incident-bundle',
    formatVersion: 1,
    note: 'Times are milliseconds since the epoch: of window, series and incidents by the clock of the database, of changes by that of the app. A value null is unknown.',
    madeAt,
    window,
    skewMs,
    names: withNames ? 'included' : 'left out',
    versions,
    connection: connectionOf(view, redaction, withNames),
    status: statusOf(sources.status, redaction),
    reading: snapshot.reading && readingOf(snapshot.reading, redaction),
    incidents: sources.incidents.map((incident) => incidentOf(incident, redaction)),
    changes: sources.changes.map((change) => ({ ...change, text: redaction.freeText(change.text) })),
    database:
      typeof sources.health === 'string' ? redaction.freeText(sources.health) : healthOf(sources.health, redaction),
    series: redaction.values({ times, stepMs, series })
  }
}

function connectionOf(view: ConnectionView, redaction: Redaction, withNames: boolean) {
  const { name, kind, environment, accessMode, server, mysql } = view
  const where =
    withNames && mysql
      ? redaction.values({ host: mysql.host, port: mysql.port, user: mysql.user, database: mysql.database })
      : null
  return { ...redaction.values({ name, server }), kind, environment, accessMode, tls: mysql?.tls ?? null, where }
}

function statusOf(status: StatusReport, redaction: Redaction): StatusReport {
  const unknown = status.unknown === null ? null : redaction.freeText(status.unknown)
  return { ...redaction.values(status), unknown }
}

function readingOf(reading: QueueReading, redaction: Redaction): QueueReading {
  return { ...redaction.values(reading), workers: reading.workers.map((worker) => workerOf(worker, redaction)) }
}

/** A worker's own id begins with its host. */
function workerOf(worker: WorkerRow, redaction: Redaction): WorkerRow {
  return {
    ...redaction.values(worker),
    id: redaction.freeText(worker.id),
    host: redaction.host(worker.host),
    fault: worker.fault === null ? null : redaction.freeText(worker.fault)
  }
}

function incidentOf(incident: Incident, redaction: Redaction): Incident {
  const { acknowledged } = incident
  return {
    ...redaction.values(incident),
    acknowledged: acknowledged && {
      at: acknowledged.at,
      by: redaction.user(acknowledged.by),
      note: redaction.freeText(acknowledged.note)
    }
  }
}

/** Sessions, transactions and accounts of others stay out: they are people and machines, and nothing of them is needed for a plan. */
function healthOf(health: DatabaseHealth, redaction: Redaction) {
  const { kind, at, version, plans, tables, indexes } = health
  const shared = { kind, at, version, plans, tables, indexes }
  if (health.kind === 'sqlite')
    return redaction.values({
      ...shared,
      fileBytes: health.fileBytes,
      walBytes: health.walBytes,
      journalMode: health.journalMode
    })
  return redaction.values({ ...shared, flavour: health.flavour, counters: health.counters, settings: health.settings })
}
