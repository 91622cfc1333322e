import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import {
  alertLimits,
  areSensitiveKeys,
  artifact,
  attempt,
  logLine,
  newTask,
  operatorAction,
  point,
  queueReading,
  taskDetail,
  taskFilter,
  taskId,
  taskState,
  taskSummary,
  workerRequest,
  workerRow
} from '../kernel/index.ts'

import {
  alertRuleDraft,
  alertState,
  delivery,
  incident,
  notifier,
  notifierDraft,
  rulePreview,
  silenceDraft
} from './alerts.ts'
import { databaseEvent } from './database.ts'
import { bundleRequest, pictureArea } from './outside.ts'
import { problem } from './problem.ts'
import { lanes, lanesQuestion } from './lanes.ts'

/*
 * Everything the page may ask for. Both shells serve exactly this; inputs are always validated in the main process,
 * outputs and events in development and tests. No secret ever crosses it outwards.
 * Times are milliseconds since the epoch, UTC; ids are strings.
 */

export * from '../kernel/task-state.ts'
export * from './alerts.ts'
export * from './database.ts'
export * from './outside.ts'
export * from './kernel-values.ts'
export * from './problem.ts'
export * from './lanes.ts'
export type * from '../kernel/index.ts'

export const connectionId = z.string().regex(/^[a-z0-9-]{1,64}$/)
/** As workers report it: printable ASCII without spaces. */
export const workerId = z.string().regex(/^[\x21-\x7e]{1,100}$/)
export const environment = z.enum(['local', 'development', 'staging', 'production'])
export type Environment = z.infer<typeof environment>
export const accessMode = z.enum(['read-only', 'read-write'])
export type AccessMode = z.infer<typeof accessMode>

/** The embedded SQLite queue: always there. */
export const localConnectionId = 'local'

/** What was asked for or nothing: no link falls back to plain text. `required` accepts any certificate. */
export const tlsMode = z.enum(['disabled', 'required', 'verify-identity'])

export const mysqlSettings = z.object({
  host: z.string().trim().min(1).max(255),
  port: z.int().min(1).max(65_535).default(3306),
  user: z.string().min(1).max(128),
  database: z.string().min(1).max(64),
  tls: tlsMode.default('disabled'),
  /** PEM text of a certificate authority; empty uses the system's. */
  ca: z.string().max(65_536).default('')
})
export type MysqlSettings = z.infer<typeof mysqlSettings>

export const connectionDraft = z.object({
  id: connectionId.nullable().default(null),
  name: z.string().trim().min(1).max(60),
  environment,
  accessMode,
  mysql: mysqlSettings,
  /** JSON text that describes another application's table, which is then only looked at (docs/foreign-tables.md); null: Taskdeck's own tables. */
  profile: z.string().max(65_536).nullable().default(null),
  /** null keeps the stored one. A change of host, port or user drops what is stored. */
  password: z.string().max(1024).nullable().default(null),
  /** `vault` fails where the OS has no store for secrets; `session` forgets at exit. */
  keepPassword: z.enum(['vault', 'session']).default('session')
})
export type ConnectionDraft = z.input<typeof connectionDraft>

/** Link to the database, as the sampler sees it. */
export const linkState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('connecting') }),
  z.object({ status: z.literal('live'), lastReadingAt: z.number() }),
  /** `since` is the last good reading, null when there never was one; the app retries by itself at `nextTryAt`. */
  z.object({
    status: z.literal('lost'),
    since: z.number().nullable(),
    nextTryAt: z.number(),
    failures: z.int(),
    problem
  }),
  z.object({
    status: z.literal('schema'),
    schema: z.enum(['missing', 'outdated', 'newer']),
    version: z.int(),
    latest: z.int()
  }),
  /** No password known in this session. `problem` is why the server refused the one that was given. */
  z.object({ status: z.literal('locked'), problem: problem.nullable() })
])
export type LinkState = z.infer<typeof linkState>

export const connectionView = z.object({
  id: connectionId,
  name: z.string(),
  kind: z.enum(['sqlite', 'mysql']),
  environment,
  accessMode,
  mysql: mysqlSettings.nullable(),
  /** Of another application's table; `name` and `table` are null when the text is no profile (any more), `profile` for Taskdeck's own tables. */
  profile: z.object({ text: z.string(), name: z.string().nullable(), table: z.string().nullable() }).nullable(),
  /** Where the password is: `none` for the local queue or an empty one. */
  password: z.enum(['none', 'vault', 'session', 'missing']),
  /** For example "MariaDB 10.11.19", null until known. */
  server: z.string().nullable(),
  link: linkState
})
export type ConnectionView = z.infer<typeof connectionView>

/** A fact that a step found, in the page's language by `code`; `values` are what the text speaks of. */
export const testNote = z.object({
  code: z.enum([
    'elapsed',
    'notEncrypted',
    'tlsVersion',
    'certificateChecked',
    'anyCertificate',
    'server',
    'clearLink',
    'database',
    'rights',
    'rightsThroughRoles',
    'rightsExcess',
    'rightsMissing',
    'rightsOnTablesOnly',
    'rightsForTables',
    'schemaReady',
    'schemaMissing',
    'schemaOutdated',
    'profileFits'
  ]),
  values: z.record(z.string(), z.union([z.string(), z.number()]))
})
export type TestNote = z.infer<typeof testNote>

export const testStep = z.object({
  step: z.enum(['tcp', 'tls', 'login', 'database', 'rights', 'schema']),
  status: z.enum(['running', 'ok', 'warning', 'failed', 'skipped']),
  notes: z.array(testNote),
  problem: problem.nullable()
})
export type TestStep = z.infer<typeof testStep>

/** What the page shows of a queue at one moment. */
export const tick = z.object({
  connectionId,
  /** Grows by one a tick per run of the app; a gap asks for a new snapshot. */
  seq: z.int(),
  reading: queueReading,
  points: z.array(point)
})
export type Tick = z.infer<typeof tick>

export const series = z.object({
  metric: z.string(),
  type: z.string(),
  /** Same length as the snapshot's `times`; null is unknown. */
  values: z.array(z.number().nullable())
})
export type Series = z.infer<typeof series>

export const snapshot = z.object({
  connectionId,
  seq: z.int(),
  from: z.number(),
  to: z.number(),
  stepMs: z.number(),
  /** Starts of steps, `stepMs` long; one in which nothing was due to be read (`silenceMs`) is left out. */
  times: z.array(z.number()),
  series: z.array(series),
  /** The newest reading known, from this run or from history; null when there never was one. */
  reading: queueReading.nullable()
})
export type Snapshot = z.infer<typeof snapshot>

export const sampleKind = z.enum(['steady', 'spike', 'failing', 'slow'])
export type SampleKind = z.infer<typeof sampleKind>

export const handlerView = z.object({
  type: z.string(),
  source: z.enum(['built-in', 'folder']),
  file: z.string().nullable(),
  description: z.string(),
  /** JSON Schema of the payload, for a form; null when the handler names none. */
  payloadSchema: z.record(z.string(), z.unknown()).nullable(),
  /** A payload that works, JSON text. */
  example: z.string()
})
export type HandlerView = z.infer<typeof handlerView>

export const localWorkerView = z.object({
  status: z.enum(['stopped', 'starting', 'running', 'quiet', 'stopping']),
  connectionId,
  workerId: z.string().nullable(),
  slots: z.int(),
  running: z.int(),
  handlersDir: z.string().nullable(),
  handlers: z.array(handlerView),
  /** Handler files that did not load. */
  problems: z.array(z.object({ file: z.string(), problem })),
  sample: sampleKind.nullable(),
  /** The last reason why it stopped by itself or cannot go on, null when all is well. */
  problem: problem.nullable()
})
export type LocalWorkerView = z.infer<typeof localWorkerView>

export const workerLogLine = z.object({
  /** Grows by one a line: an event may tell again what `localWorker.log` has told. */
  seq: z.int(),
  at: z.number(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  taskId: z.string().nullable()
})
export type WorkerLogLine = z.infer<typeof workerLogLine>

/** Payload, result and log as the page gets them: fields that match a mask pattern are replaced. */
export const taskView = taskDetail.omit({ checkpoint: true }).extend({
  /** The payload's fields that were masked, as paths. */
  maskedFields: z.array(z.string()),
  actions: z.array(operatorAction),
  /** Why no action is offered, for example a read-only connection; null when they are. */
  actionsBlocked: problem.nullable(),
  /** On this host and inside the artifact folder: it can be downloaded. */
  downloadable: z.array(z.string()),
  /** Why each of the others cannot be, by the artifact's id. `outside`: on this host, and not in the artifact folder. */
  unavailable: z.record(z.string(), z.enum(['other-host', 'outside', 'gone', 'not-a-file', 'too-large']))
})
export type TaskView = z.infer<typeof taskView>

export const event = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('tick'), tick }),
  z.object({ kind: z.literal('connections'), connections: z.array(connectionView) }),
  z.object({ kind: z.literal('localWorker'), localWorker: localWorkerView }),
  /** The state of one connection's alerts. */
  z.object({ kind: z.literal('alerts'), alerts: alertState }),
  /** The user clicked a notification: the page shows the Overview of this connection at this moment (the database's clock). */
  z.object({ kind: z.literal('show'), connectionId, at: z.number() }),
  z.object({ kind: z.literal('workerLog'), lines: z.array(workerLogLine) }),
  /** An operator action changed tasks; ids when they are few. */
  z.object({ kind: z.literal('tasksChanged'), connectionId, ids: z.array(taskId) }),
  /** Something the user should read although nobody asked, such as a rebuilt history file. */
  z.object({ kind: z.literal('notice'), problem })
])
export type AppEvent = z.infer<typeof event>

export const settings = z.object({
  theme: z.enum(['system', 'dark', 'light']),
  language: z.enum(['system', 'en', 'zh-CN']),
  /** Names of fields whose values are hidden, beside the built-in ones. */
  sensitiveKeys: z.array(z.string()).refine(areSensitiveKeys, 'Too many names, or one that cannot be used')
})
export type Settings = z.infer<typeof settings>

export const appInfo = z.object({
  version: z.string(),
  shell: z.enum(['electron', 'server']),
  /**
   * Where passwords can be kept: the OS's own store, or nowhere (then the reason: a page in a browser cannot reach it, there is no keyring, or
   * it cannot be used now).
   */
  vault: z.object({
    persistent: z.boolean(),
    name: z.string(),
    reason: z.enum(['browser', 'noKeyring', 'unavailable']).nullable()
  }),
  settings,
  notices: z.array(problem),
  /** Path of the local queue's file: whoever starts a worker process for it needs it. */
  localQueueFile: z.string(),
  /** Path of a CSV file for an example import; null when it could not be made. */
  sampleImportFile: z.string().nullable()
})
export type AppInfo = z.infer<typeof appInfo>

/** The one error that procedures throw on purpose. Anything else reaches the page as a generic text. */
const base = oc.errors({ PROBLEM: { status: 422, message: 'The request could not be carried out.', data: problem } })
const onConnection = z.object({ connectionId })
const longestRange = z
  .int()
  .min(60_000)
  .max(90 * 86_400_000)

export const contract = {
  app: {
    info: base.output(appInfo),
    /** What is left out stays: a page that was opened earlier does not undo what another one chose. */
    saveSettings: base.input(settings.partial()).output(settings),
    /** Current connections, local worker, ticks and alerts first, then changes. Ticks and alerts are coalesced to the latest per connection. */
    events: base.output(eventIterator(event))
  },
  connections: {
    list: base.output(z.array(connectionView)),
    /** The profiles that come with Taskdeck, to begin one's own with. */
    profiles: base.output(z.array(z.object({ name: z.string(), text: z.string() }))),
    /** Tries each step in order and stops at the first failure; saves nothing. */
    test: base.input(connectionDraft).output(eventIterator(testStep)),
    save: base.input(connectionDraft).output(connectionView),
    remove: base.input(onConnection).output(z.void()),
    /** Gives the password of a `locked` connection for this session. */
    unlock: base.input(z.object({ connectionId, password: z.string().max(1024) })).output(connectionView),
    setAccessMode: base
      .input(
        z.object({
          connectionId,
          accessMode,
          /** The connection's name, typed, when it is production. */ confirmation: z.string().max(60).default('')
        })
      )
      .output(connectionView),
    schemaPlan: base.input(onConnection).output(z.array(z.object({ migration: z.string(), sql: z.string() }))),
    /** `planHash` is SHA-256 of the statements that the user has read, joined by a newline. */
    migrate: base.input(z.object({ connectionId, planHash: z.string().length(64) })).output(connectionView),
    /** Tries now instead of at `nextTryAt`. */
    retryNow: base.input(onConnection).output(z.void())
  },
  overview: {
    snapshot: base
      .input(
        z.object({
          connectionId,
          rangeMs: longestRange,
          maxPoints: z.int().min(10).max(1_000).default(360),
          /** Where the range ends, the database's clock; null: now. */
          endAt: z.number().min(0).nullable().default(null),
          /** Series of these alone; '' is the whole queue. Left out: all. Types of a table that is not ours may be long. */
          types: z.array(z.string().max(1_024)).max(10).optional()
        })
      )
      .output(snapshot)
  },
  tasks: {
    list: base
      .input(
        z.object({
          connectionId,
          filter: taskFilter,
          limit: z.int().min(1).max(200).default(100),
          cursor: z.string().max(100).nullable().default(null)
        })
      )
      .output(z.object({ rows: z.array(taskSummary), nextCursor: z.string().nullable() })),
    get: base.input(z.object({ connectionId, taskId })).output(taskView),
    log: base
      .input(z.object({ connectionId, taskId, afterId: z.string().max(20).nullable().default(null) }))
      .output(z.array(logLine)),
    /** `requestId` makes a repeated press harmless. */
    act: base
      .input(
        z.object({
          connectionId,
          taskId,
          action: operatorAction,
          requestId: z.uuid(),
          confirmation: z.string().max(60).default('')
        })
      )
      .output(z.object({ from: taskState, to: taskState, auditId: z.string() })),
    /** The file's bytes; at most 16 MiB. */
    artifact: base.input(z.object({ connectionId, taskId, artifactId: z.string().max(20) })).output(z.instanceof(Blob)),
    /** `count` copies of one task. `requestId` makes a repeated press harmless; left out, each call is a press of its own. */
    submit: base
      .input(
        z.object({
          connectionId,
          task: newTask,
          count: z.int().min(1).max(10_000).default(1),
          requestId: z.uuid().nullable().default(null),
          /** The connection's name, typed, when it is production. */ confirmation: z.string().max(60).default('')
        })
      )
      .output(z.object({ created: z.int(), existing: z.int(), firstId: taskId, auditId: z.string() }))
  },
  workers: {
    /**
     * Asks a worker to claim nothing more (it finishes what runs) or to stop; null takes that back. It is in the worker's row then; the worker
     * follows with its next report. `requestId` makes a repeated press harmless.
     */
    request: base
      .input(
        z.object({
          connectionId,
          workerId,
          request: workerRequest.nullable(),
          requestId: z.uuid(),
          /** The connection's name, typed, when it is production. */ confirmation: z.string().max(60).default('')
        })
      )
      .output(z.object({ auditId: z.string() })),
    /** Who ran what in the last while, and who runs what: one bounded look, for a page to draw. */
    lanes: base.input(lanesQuestion).output(lanes)
  },
  alerts: {
    get: base.input(onConnection).output(alertState),
    /** `ruleId` null makes a new one. */
    saveRule: base
      .input(onConnection.extend({ ruleId: z.string().nullable(), rule: alertRuleDraft }))
      .output(alertState),
    /** A default rule is not removed but set back to what it was. */
    removeRule: base.input(onConnection.extend({ ruleId: z.string() })).output(alertState),
    /** When a rule would have fired, over stored history; saves nothing. */
    preview: base.input(onConnection.extend({ rule: alertRuleDraft, rangeMs: longestRange })).output(rulePreview),
    /** Those that overlap the time, newest first, at most 500. */
    incidents: base.input(onConnection.extend({ from: z.number(), to: z.number() })).output(z.array(incident)),
    acknowledge: base
      .input(onConnection.extend({ incidentId: z.string(), note: z.string().max(alertLimits.noteChars).default('') }))
      .output(alertState),
    silence: base.input(silenceDraft).output(alertState),
    /** Ends it now. */
    unsilence: base.input(onConnection.extend({ silenceId: z.string() })).output(alertState),
    notifiers: base.output(z.array(notifier)),
    saveNotifier: base.input(notifierDraft).output(z.array(notifier)),
    removeNotifier: base.input(z.object({ notifierId: z.string() })).output(z.array(notifier)),
    /** Sends one message at once; how it went is the answer. */
    testNotifier: base.input(z.object({ notifierId: z.string() })).output(delivery),
    /** The newest 200, newest first. */
    deliveries: base.output(z.array(delivery))
  },
  database: {
    /** A look every 5 s, the first at once, as long as somebody listens. One statement at a time, however many pages do. */
    watch: base.input(onConnection).output(eventIterator(databaseEvent))
  },
  outside: {
    /** A ZIP archive for a ticket: what was seen and when, plans, versions, the app's log; without secrets. */
    bundle: base.input(z.intersection(onConnection, bundleRequest)).output(z.instanceof(Blob)),
    /** PNG of a part of the window, as it is on screen; only in the desktop shell. */
    picture: base.input(pictureArea).output(z.instanceof(Blob))
  },
  localWorker: {
    get: base.output(localWorkerView),
    start: base
      .input(
        z.object({
          connectionId,
          slots: z.int().min(1).max(64),
          handlersDir: z.string().max(4096).nullable().default(null),
          /** The connection's name, typed, when it is production. */ confirmation: z.string().max(60).default('')
        })
      )
      .output(localWorkerView),
    stop: base.output(localWorkerView),
    resize: base.input(z.object({ slots: z.int().min(1).max(64) })).output(localWorkerView),
    /** Submits sample tasks at a pace until it is stopped. The worker must run on this connection, which must not be production. */
    startSample: base.input(onConnection.extend({ kind: sampleKind })).output(localWorkerView),
    stopSample: base.output(localWorkerView),
    /** The newest 200 lines. */
    log: base.output(z.array(workerLogLine))
  }
}
export type Contract = typeof contract
export { artifact, attempt, workerRow, taskFilter, taskSummary, queueReading }
