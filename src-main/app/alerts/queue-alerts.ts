import type { z } from 'zod'
import type { AppEvent, ConnectionView, silenceDraft } from '../../contract/index.ts'
import { metricsOf, type Alerts, type AlertState, type RulePreview } from '../../alerting/index.ts'
import type { AlertRuleDraft, Incident } from '../../kernel/index.ts'
import type { Tick } from '../../monitoring/index.ts'
import type { AppLog } from '../app-log.ts'
import type { Observations, SeenWindow } from '../observations.ts'
import { audited, type AuditedChange, type AuditedOptions } from './audited-change.ts'
import type { Notifiers } from './notifiers.ts'

/** Points of a preview: of a day one each minute and a half, of an hour every one. */
const previewPoints = 960
/** A shorter history has no steps of its own. */
const leastPreviewMs = 60_000
/** Values alone are told to the page with every fifth reading. */
const ticksPerValue = 5

export interface QueueAlertsOptions {
  readonly log: AppLog
  readonly alerts: Alerts
  readonly notifiers: Notifiers
  readonly observations: Observations
  readonly auditing: AuditedOptions
  readonly publish: (event: AppEvent) => void
  /** Nobody needs a state that nobody sees. */
  readonly hasPages: () => boolean
}

/** Alerts of the queues that are connected: fed by their readings and links, told to pages, changed by operators. */
export class QueueAlerts {
  private readonly options: QueueAlertsOptions
  /** Connections whose state is to be told once the present work is done. */
  private readonly changed = new Set<string>()
  private readonly ticksSinceTold = new Map<string, number>()
  private followed: ReadonlySet<string> = new Set()

  constructor(options: QueueAlertsOptions) {
    this.options = options
  }

  /** Readings are expected of every connection that needs nothing from its user. */
  follow(views: readonly ConnectionView[]): void {
    const { alerts } = this.options
    const expected = new Set(views.filter(({ link }) => expectsReadings(link)).map(({ id }) => id))
    for (const id of expected) if (!this.followed.has(id)) alerts.watch(id)
    for (const id of this.followed) if (!expected.has(id)) alerts.unwatch(id)
    this.followed = expected
  }

  /** Its readings are of another queue from now on. */
  moved(connectionId: string): void {
    this.options.alerts.moved(connectionId)
    this.tell(connectionId)
  }

  take({ connectionId, reading, points }: Tick): void {
    this.options.alerts.observe({ connectionId, at: reading.at, points })
    const ticks = (this.ticksSinceTold.get(connectionId) ?? 0) + 1
    this.ticksSinceTold.set(connectionId, ticks)
    if (ticks >= ticksPerValue) this.tell(connectionId)
  }

  /** Types whose points `take` expects, whether they are busy or idle. */
  ruleTypes(connectionId: string): readonly string[] {
    return this.options.alerts.ruleTypes(connectionId)
  }

  /** Something has changed; several changes of one moment are told once. */
  tell(connectionId: string): void {
    if (this.changed.size === 0) queueMicrotask(() => this.tellChanged())
    this.changed.add(connectionId)
  }

  state(connectionId: string): AlertState {
    return this.options.alerts.state(connectionId)
  }

  /** What a page has to know first. */
  events(connectionIds: readonly string[]): AppEvent[] {
    return connectionIds.map((id) => ({ kind: 'alerts', alerts: this.state(id) }))
  }

  incidents(connectionId: string, range: { from: number; to: number }): Incident[] {
    return this.options.alerts.incidents(connectionId, range)
  }

  async preview(connectionId: string, rule: AlertRuleDraft, rangeMs: number): Promise<RulePreview> {
    const { alerts, observations } = this.options
    const query = { maxPoints: previewPoints, metrics: metricsOf(rule.signal), types: [...new Set([rule.type, ''])] }
    const look = (ms: number): Promise<SeenWindow> => observations.window(connectionId, { ...query, rangeMs: ms })
    return alerts.preview(connectionId, rule, await knownPart(look, rangeMs))
  }

  saveRule(connectionId: string, ruleId: string | null, rule: AlertRuleDraft): Promise<AlertState> {
    const target = JSON.stringify({ ruleId, ...rule })
    return this.change({ connectionId, action: 'alerts.saveRule', target }, (alerts) =>
      alerts.saveRule(connectionId, ruleId, rule)
    )
  }

  removeRule(connectionId: string, ruleId: string): Promise<AlertState> {
    return this.change({ connectionId, action: 'alerts.removeRule', target: ruleId }, (alerts) =>
      alerts.removeRule(connectionId, ruleId)
    )
  }

  acknowledge(connectionId: string, incidentId: string, note: string): Promise<AlertState> {
    const by = this.options.auditing.actor
    const entry = { connectionId, action: 'alerts.acknowledge', target: incidentId, reason: note }
    return this.change(entry, (alerts) => alerts.acknowledge(connectionId, incidentId, { by, note }))
  }

  silence(draft: z.output<typeof silenceDraft>): Promise<AlertState> {
    const { connectionId, ruleId, durationMs, reason } = draft
    const target = JSON.stringify({ ruleId, durationMs })
    return this.change({ connectionId, action: 'alerts.silence', target, reason }, (alerts) =>
      alerts.silence({ ...draft, by: this.options.auditing.actor })
    )
  }

  unsilence(connectionId: string, silenceId: string): Promise<AlertState> {
    return this.change({ connectionId, action: 'alerts.unsilence', target: silenceId }, (alerts) =>
      alerts.unsilence(connectionId, silenceId)
    )
  }

  /** The connection is no more. Throws ALERTS_UNAVAILABLE or DISK_FULL when something of it stays in the file. */
  forget(connectionId: string): void {
    this.ticksSinceTold.delete(connectionId)
    this.changed.delete(connectionId)
    this.options.alerts.forget(connectionId)
  }

  /** Messages under way are given up first: that is recorded in the file that closes then. */
  async stop(): Promise<void> {
    await this.options.notifiers.stop()
    await this.options.alerts.stop()
  }

  private async change(entry: AuditedChange, work: (alerts: Alerts) => unknown): Promise<AlertState> {
    await audited(this.options.auditing, entry, () => work(this.options.alerts))
    this.tell(entry.connectionId)
    return this.state(entry.connectionId)
  }

  private tellChanged(): void {
    const { hasPages, publish, log } = this.options
    const ids = [...this.changed]
    this.changed.clear()
    for (const id of ids) this.ticksSinceTold.set(id, 0)
    if (!hasPages()) return
    try {
      for (const event of this.events(ids)) publish(event)
    } catch (error) {
      log.bug(error)
    }
  }
}

/** Not of one that waits for a password or for its tables. */
const expectsReadings = ({ status }: ConnectionView['link']): boolean =>
  status === 'connecting' || status === 'live' || status === 'lost'

/** A history that is shorter than half of the range is looked at by itself: in a week's steps its minutes would be one. */
async function knownPart(look: (rangeMs: number) => Promise<SeenWindow>, rangeMs: number): Promise<SeenWindow> {
  const seen = await look(rangeMs)
  const first = seen.times.find((_time, index) => seen.series.some(({ values }) => typeof values[index] === 'number'))
  const knownMs = Math.max(leastPreviewMs, seen.to - (first ?? seen.from))
  return knownMs < rangeMs / 2 ? knownPart(look, knownMs) : seen
}
