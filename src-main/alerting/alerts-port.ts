import type {
  AlertRule,
  AlertRuleDraft,
  AppError,
  Clock,
  Delivery,
  Firing,
  Incident,
  MetricName,
  Notifier,
  Point,
  Silence
} from '../kernel/index.ts'

export interface AlertsOptions {
  readonly file: string
  readonly clock: Clock
  /** The folder `migrations/cache`. */
  readonly migrationsDir: string
  /** The file fails while the app runs: rules are evaluated on, and what changes is not kept. Once a failure; a bug in what the timer does comes here too. */
  readonly onNotice: (notice: AppError) => void
  /** Something but a value has changed in the state of this connection. */
  readonly onChange: (connectionId: string) => void
  /** Somebody should be told. Called once a change of an incident; it must not throw. */
  readonly onMessage: (message: IncidentMessage) => void
}

/** One good reading of a queue. */
export interface Observation {
  readonly connectionId: string
  /** The reading's own time, ms since the epoch by the database's clock. May jump. */
  readonly at: number
  readonly points: readonly Point[]
}

/** A type and its own value of a signal, in the signal's unit. */
export interface WorstType {
  readonly type: string
  readonly value: number
}

/** A firing as somebody is told of it. */
export interface ToldFiring extends Firing {
  /** Of a rule for the whole queue that fires now: the type that makes it so, by the newest reading; null where none is known. */
  readonly worst: WorstType | null
}

/** What somebody is to be told. None is sent under a silence, nor a repetition once the incident is acknowledged. */
export interface IncidentMessage {
  /** `resolved`: the whole incident, of which somebody was told. */
  readonly what: 'fired' | 'repeated' | 'resolved'
  readonly connectionId: string
  /** Of the clock of the readings, as all times in it. */
  readonly at: number
  /** As it stands after the change; all of its firings, those under a silence too. */
  readonly incident: Incident
  /** What the message is about: those that fired now, that still fire, or that the incident was made of. Never empty. */
  readonly firings: readonly ToldFiring[]
}

/** `unknown`: there is no figure now, or the rule is switched off. */
export type RuleState = 'quiet' | 'pending' | 'firing' | 'unknown'

export interface AlertRuleView {
  rule: AlertRule
  /** A default that was changed: what it is set back to. null: it is as it was made, or somebody's own. */
  standard: AlertRuleDraft | null
  state: RuleState
  /** Since when it is pending or firing. */
  since: number | null
  /** The signal now; null is unknown. */
  value: number | null
  /** By the app's clock. */
  silencedUntil: number | null
  /** Firings of the last 7 days. */
  fired7d: number
}

/** What the contract calls `alertState`. */
export interface AlertState {
  connectionId: string
  rules: AlertRuleView[]
  /** Not resolved, newest first. */
  open: Incident[]
  /** Those that have not ended. */
  silences: Silence[]
}

/** Stored history of the metrics that `metricsOf` names, as the history room answers; null is unknown. */
export interface PreviewHistory {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly times: readonly number[]
  readonly series: readonly {
    readonly metric: MetricName | (string & {})
    readonly type: string
    readonly values: readonly (number | null)[]
  }[]
}

/** What the contract calls `rulePreview`. */
export interface RulePreview {
  from: number
  to: number
  stepMs: number
  times: number[]
  values: (number | null)[]
  firings: { since: number; firedAt: number; until: number | null; peak: number }[]
  variants: { above: number; forMs: number; fired: number }[]
}

/** A notifier as it is kept here: its address is a secret and kept elsewhere. */
export type StoredNotifier = Omit<Notifier, 'address'>

/**
 * Rules over the points of queues. Rules, silences, incidents and what became of messages are kept in a file; when that fails,
 * `observe` goes on and says so through `onNotice`, and a change that a user asked for throws ALERTS_UNAVAILABLE or DISK_FULL
 * (operational). NOT_FOUND (user) is thrown for an id that is not there, LIMIT_REACHED (user) beyond `alertLimits`,
 * INVALID_INPUT (user) for a rule that is none.
 */
export interface Alerts {
  /** Begins to look at what happens without a reading (blindness, repetitions, ends of silences). Does nothing while it runs. */
  start(): void
  /** Readings of this connection are expected from now on: without one, it is blind. Does nothing when they are already. */
  watch(connectionId: string): void
  /** None are expected: it was closed, or waits for the user (a password, a schema). What fires stays, but for blindness. */
  unwatch(connectionId: string): void
  /** Its readings are of another queue from now on: what fires or is pending ends; rules and silences stay. */
  moved(connectionId: string): void
  /** Evaluates every rule of the connection; also watches it. Never throws because of the file. */
  observe(observation: Observation): void

  state(connectionId: string): AlertState
  /** Those that rules of one type are about, switched on: their points are expected in every observation, also while they are idle. */
  ruleTypes(connectionId: string): readonly string[]
  /** `ruleId` null makes a new one. */
  saveRule(connectionId: string, ruleId: string | null, draft: AlertRuleDraft): AlertRule
  /** A default is set back to what it was. */
  removeRule(connectionId: string, ruleId: string): void
  /** When the rule would have fired. Of `blindMs` history knows nothing: it shows when it did fire. */
  preview(connectionId: string, draft: AlertRuleDraft, history: PreviewHistory): RulePreview
  /** Those that overlap [from, to], newest first, at most 500. */
  incidents(connectionId: string, range: { from: number; to: number }): Incident[]
  incident(incidentId: string): Incident | undefined
  /** What somebody whom messages reach only now is to be told: a message for each open incident that nobody has in hand. */
  firingNow(connectionId: string): IncidentMessage[]
  acknowledge(connectionId: string, incidentId: string, by: { by: string; note: string }): void
  silence(silence: {
    connectionId: string
    ruleId: string | null
    durationMs: number
    reason: string
    by: string
  }): Silence
  unsilence(connectionId: string, silenceId: string): void
  /** The connection is no more: nothing of it is kept. */
  forget(connectionId: string): void

  readonly records: NotifierRecords
  /** Ends the timer, keeps what is pending, closes the file. */
  stop(): Promise<void>
}

/** Notifiers, and what became of their messages, in the same file. Methods throw as those of Alerts. */
export interface NotifierRecords {
  notifiers(): StoredNotifier[]
  /** Makes or replaces the one with this id. */
  saveNotifier(notifier: StoredNotifier): void
  removeNotifier(notifierId: string): void
  /** Makes or replaces the one with this id. Never throws: a record that cannot be kept must not stop the message. */
  saveDelivery(delivery: Delivery): void
  /** It was sent that this incident fires, whatever came of it. */
  wasSent(notifierId: string, incidentId: string): boolean
  /** The newest 200, newest first. Those of an earlier run may still be `sending`. */
  deliveries(): Delivery[]
}
