import { randomUUID } from 'node:crypto'
import { pause, toAppError, type AlertRule, type AlertRuleDraft } from '../kernel/index.ts'
import type { Clock, Incident, Point, Silence } from '../kernel/index.ts'
import { requireRoom, unknownId } from './alert-faults.ts'
import type { AlertStore, StoredConnection, StoredRule } from './alert-store.ts'
import type { Alerts, AlertsOptions, AlertState, IncidentMessage, NotifierRecords, Observation } from './alerts-port.ts'
import type { PreviewHistory, RulePreview } from './alerts-port.ts'
import { ConnectionAlerts, type Circumstances, type Outcome } from './connection-alerts.ts'
import { FileGuard } from './file-guard.ts'
import { incidentView, type KeptIncident } from './incidents.ts'
import { FileNotifierRecords } from './notifier-records.ts'
import { previewOf } from './preview.ts'
import { requireRule, requireSameSignal } from './rule-input.ts'
import { staleMs } from './rule-machine.ts'
import { Silences } from './silences.ts'
import { stateOf } from './state.ts'
import { messageOf, newcomerTelling, type Told } from './telling.ts'
import { worstTypes } from './worst-type.ts'

/** Between two looks at what happens without a reading. */
const roundMs = 5_000
/** What is pending or firing is written this often: a crash loses no more of it. */
const saveEveryMs = 30_000
const trimEveryMs = 3_600_000
const weekMs = 7 * 86_400_000

/** One connection and how long ago it was read. */
interface Watched {
  readonly alerts: ConnectionAlerts
  isWatched: boolean
  /** Since the last reading, or since readings are expected. Counted while the app is awake: a sleeping computer is not blind. */
  blindMs: number
  /** A reading came in this run. */
  isRead: boolean
  /** Of the newest reading. */
  points: readonly Point[]
  /** The readings' clock less ours. */
  skewMs: number
  savedAt: number
}

/** Rules in memory; a file that keeps what must outlive the app. */
export class KeptAlerts implements Alerts {
  readonly records: NotifierRecords
  private readonly store: AlertStore
  private readonly options: AlertsOptions
  private readonly file: FileGuard
  private readonly silences: Silences
  private readonly connections = new Map<string, Watched>()
  private isClosed = false
  private hasBug = false
  private run: { readonly stopper: AbortController; readonly ended: Promise<void> } | undefined

  constructor(store: AlertStore, options: AlertsOptions) {
    this.store = store
    this.options = options
    this.file = new FileGuard(options.onNotice)
    this.records = new FileNotifierRecords(store, this.file)
    this.silences = new Silences(this.file.readOr([], () => store.silences(options.clock.now())))
  }

  start(): void {
    if (this.run || this.isClosed) return
    const stopper = new AbortController()
    this.run = { stopper, ended: this.loop(stopper.signal) }
  }

  async stop(): Promise<void> {
    const { run } = this
    this.run = undefined
    run?.stopper.abort()
    await run?.ended
    if (this.isClosed) return
    this.isClosed = true
    for (const watched of this.connections.values()) this.save(watched, watched.alerts.unsaved())
    this.connections.clear()
    this.file.quietly(() => this.store.close())
  }

  watch(connectionId: string): void {
    if (this.isClosed) return
    const watched = this.connection(connectionId)
    if (watched.isWatched) return
    watched.isWatched = true
    watched.blindMs = 0
  }

  unwatch(connectionId: string): void {
    if (this.isClosed) return
    const watched = this.connection(connectionId)
    if (!watched.isWatched) return
    watched.isWatched = false
    watched.isRead = false
    this.follow(watched, watched.alerts.endBlindness(this.readingTime(watched), this.circumstances(watched)))
  }

  moved(connectionId: string): void {
    if (this.isClosed) return
    const watched = this.connection(connectionId)
    watched.points = []
    this.follow(watched, watched.alerts.endAll(this.readingTime(watched), this.circumstances(watched)))
  }

  observe({ connectionId, at, points }: Observation): void {
    if (this.isClosed) return
    const watched = this.connection(connectionId)
    const now = this.clock.now()
    watched.skewMs = at - now
    watched.isWatched = true
    watched.isRead = true
    watched.points = points
    watched.blindMs = 0
    this.follow(watched, watched.alerts.observe(Math.round(at), points, this.circumstances(watched)))
    if (Math.abs(now - watched.savedAt) < saveEveryMs) return
    watched.savedAt = now
    this.save(watched, watched.alerts.unsaved())
  }

  state(connectionId: string): AlertState {
    const { alerts, ...watched } = this.connection(connectionId)
    const now = this.clock.now()
    const from = now + watched.skewMs - weekMs
    const fired = this.file.readOr(new Map<string, number>(), () => this.store.firedSince(connectionId, from))
    return stateOf({ alerts, silences: this.silences, now, fired, isFresh: isFresh(watched) })
  }

  ruleTypes(connectionId: string): readonly string[] {
    if (this.isClosed) return []
    const rules = this.connection(connectionId).alerts.rules.filter(({ type, enabled }) => enabled && type !== '')
    return [...new Set(rules.map(({ type }) => type))]
  }

  saveRule(connectionId: string, ruleId: string | null, draft: AlertRuleDraft): AlertRule {
    const watched = this.connection(connectionId)
    const known = ruleId === null ? undefined : watched.alerts.rule(ruleId)
    const rule = requireRule(draft, known)
    if (ruleId !== null && !known) throw unknownId('rule')
    if (!known) requireRoom('rules', watched.alerts.rules.length)
    if (known?.isDefault) requireSameSignal(known, rule)
    const stored: StoredRule = { ...rule, id: known?.id ?? randomUUID() }
    this.file.asked(() => this.store.putRule(connectionId, stored))
    this.reloadRules(watched)
    return watched.alerts.rule(stored.id) as AlertRule
  }

  removeRule(connectionId: string, ruleId: string): void {
    const watched = this.connection(connectionId)
    if (!watched.alerts.rule(ruleId)) throw unknownId('rule')
    this.file.asked(() => this.store.dropRule(connectionId, ruleId))
    this.reloadRules(watched)
  }

  preview(connectionId: string, draft: AlertRuleDraft, history: PreviewHistory): RulePreview {
    const rule = requireRule(draft)
    const recorded = rule.signal === 'blindMs' ? this.incidents(connectionId, history) : []
    const firings = recorded.flatMap((incident) => incident.firings.filter(({ signal }) => signal === 'blindMs'))
    return previewOf(rule, history, firings)
  }

  incidents(connectionId: string, range: { from: number; to: number }): Incident[] {
    const { alerts } = this.connection(connectionId)
    const stored = this.file.asked(() => this.store.incidents(connectionId, range))
    // In memory they are newer than in the file.
    return stored.map((incident) => incidentView(alerts.incident(incident.id) ?? incident))
  }

  incident(incidentId: string): Incident | undefined {
    const found = this.find(incidentId)
    return found && incidentView(found)
  }

  firingNow(connectionId: string): IncidentMessage[] {
    const watched = this.connection(connectionId)
    const { isSilenced } = this.circumstances(watched)
    const told = watched.alerts.open.flatMap((incident) => newcomerTelling(incident, isSilenced) ?? [])
    return this.messages(watched, told)
  }

  acknowledge(connectionId: string, incidentId: string, { by, note }: { by: string; note: string }): void {
    const watched = this.connection(connectionId)
    const incident = this.find(incidentId)
    if (incident?.connectionId !== connectionId) throw unknownId('incident')
    const acknowledged = { ...incident, acknowledged: { at: this.readingTime(watched), by, note } }
    this.file.asked(() => this.store.write(() => this.store.putIncident(acknowledged, [])))
    watched.alerts.acknowledge(acknowledged)
    this.options.onChange(connectionId)
  }

  silence({ connectionId, ruleId, durationMs, reason, by }: Parameters<Alerts['silence']>[0]): Silence {
    const { alerts } = this.connection(connectionId)
    if (ruleId !== null && !alerts.rule(ruleId)) throw unknownId('rule')
    const from = this.clock.now()
    requireRoom('silences', this.silences.of(connectionId, from).length)
    const silence: Silence = { id: randomUUID(), connectionId, ruleId, from, until: from + durationMs, reason, by }
    this.file.asked(() => this.store.putSilence(silence, from))
    this.silences.add(silence)
    this.options.onChange(connectionId)
    return silence
  }

  unsilence(connectionId: string, silenceId: string): void {
    const now = this.clock.now()
    if (!this.silences.find(connectionId, silenceId, now)) throw unknownId('silence')
    this.file.asked(() => this.store.endSilence(silenceId, now))
    this.silences.drop(({ id }) => id === silenceId)
    this.options.onChange(connectionId)
  }

  forget(connectionId: string): void {
    this.file.asked(() => this.store.forget(connectionId))
    this.connections.delete(connectionId)
    this.silences.drop((silence) => silence.connectionId === connectionId)
  }

  private get clock(): Clock {
    return this.options.clock
  }

  private async loop(stop: AbortSignal): Promise<void> {
    let trimmedAt = -Infinity
    let lastAt = this.clock.monotonic()
    while (!stop.aborted) {
      const at = this.clock.monotonic()
      if (at - trimmedAt >= trimEveryMs) {
        this.file.quietly(() => this.store.trim(this.clock.now()))
        trimmedAt = at
      }
      this.say(() => this.round(Math.min(at - lastAt, 2 * roundMs)))
      lastAt = at
      await pause(this.clock, roundMs, stop)
    }
  }

  /** A bug is said once, and must not end the loop. */
  private say(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!this.hasBug) this.options.onNotice(toAppError(error))
      this.hasBug = true
    }
  }

  /** What happens without a reading. */
  private round(passedMs: number): void {
    for (const connectionId of this.silences.takeEnded(this.clock.now())) this.options.onChange(connectionId)
    for (const watched of [...this.connections.values()].filter(({ isWatched }) => isWatched)) {
      const wasFresh = isFresh(watched)
      watched.blindMs += passedMs
      const circumstances = this.circumstances(watched)
      const outcome = watched.alerts.observeBlind(this.readingTime(watched), watched.blindMs, circumstances)
      this.follow(watched, wasFresh === isFresh(watched) ? outcome : { ...outcome, changed: true })
    }
  }

  /** Keeps what happened, then tells it. */
  private follow(watched: Watched, outcome: Outcome): void {
    const { connectionId } = watched.alerts
    this.save(watched, outcome)
    for (const message of this.messages(watched, outcome.told)) this.options.onMessage(message)
    if (outcome.changed) this.options.onChange(connectionId)
  }

  private messages(watched: Watched, told: readonly Told[]): IncidentMessage[] {
    if (told.length === 0) return []
    const worstOf = worstTypes(isFresh(watched) ? watched.points : [])
    return told.map((one) => messageOf(one, { at: this.readingTime(watched), worstOf }))
  }

  private save({ alerts }: Watched, { incidents, memories }: Pick<Outcome, 'incidents' | 'memories'>): void {
    if (incidents.length + memories.length === 0) return
    this.file.quietly(() =>
      this.store.write(() => {
        for (const { incident, firings } of incidents) this.store.putIncident(incident, firings)
        for (const ruleId of memories) this.store.putMemory(alerts.connectionId, ruleId, alerts.memory(ruleId))
      })
    )
  }

  private reloadRules(watched: Watched): void {
    const { alerts } = watched
    const { rules } = this.file.asked(() => this.store.connection(alerts.connectionId))
    const outcome = alerts.setRules(rules, this.readingTime(watched), this.circumstances(watched))
    this.follow(watched, { ...outcome, changed: true })
  }

  private connection(connectionId: string): Watched {
    const known = this.connections.get(connectionId)
    if (known) return known
    // Where the file fails, the defaults watch.
    const none: StoredConnection = { rules: [], pending: new Map(), incidents: [] }
    const stored = this.file.readOr(none, () => this.store.connection(connectionId))
    const alerts = new ConnectionAlerts(connectionId, stored)
    const watched = { alerts, isWatched: false, blindMs: 0, isRead: false, points: [], skewMs: 0, savedAt: 0 }
    this.connections.set(connectionId, watched)
    this.follow(watched, alerts.endOrphans(this.readingTime(watched), this.circumstances(watched)))
    return watched
  }

  private find(incidentId: string): KeptIncident | undefined {
    for (const { alerts } of this.connections.values()) {
      const found = alerts.incident(incidentId)
      if (found) return found
    }
    return this.file.asked(() => this.store.incident(incidentId))
  }

  private circumstances(watched: Watched): Circumstances {
    const now = this.clock.now()
    const { connectionId } = watched.alerts
    const isSilenced = (ruleId: string): boolean => this.silences.until({ connectionId, ruleId }, now) !== null
    return { now, isSilenced, isFresh: isFresh(watched) }
  }

  /** Now, by the readings' clock as far as it is known. */
  private readingTime({ skewMs }: Watched): number {
    return Math.round(this.clock.now() + skewMs)
  }
}

const isFresh = ({ isRead, blindMs }: Pick<Watched, 'isRead' | 'blindMs'>): boolean => isRead && blindMs < staleMs
