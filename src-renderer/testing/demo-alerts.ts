import {
  alertSignals,
  type AlertRule,
  type AlertRuleDraft,
  type AlertRuleView,
  type AlertSignal,
  type AlertState,
  type Delivery,
  type Firing,
  type Incident,
  type RulePreview,
  type Silence
} from '@contract'
import { firingsOf, incidentOf, signalAt } from './demo-signals.ts'

const minute = 60_000
const hour = 3_600_000
const day = 86_400_000

/** Threshold, where it clears, how long before it fires. */
const defaults: Record<AlertSignal, readonly [above: number, clearAt: number, forMs: number]> = {
  oldestMs: [300_000, 240_000, minute],
  failureRate: [0.1, 0.08, 2 * minute],
  recoveredRise: [10, 2, 10 * minute],
  workersSilent: [0, 0, 30_000],
  poolUse: [0.9, 0.8, 5 * minute],
  databaseUse: [0.8, 0.7, 2 * minute],
  claimP95: [200, 150, 5 * minute],
  progressStopped: [0, 0, 2 * minute],
  growth: [200, 50, 10 * minute],
  schedulesLate: [0, 0, minute],
  blindMs: [60_000, 10_000, 0]
}

const draftOf = (signal: AlertSignal, type = ''): AlertRuleDraft => {
  const [above, clearAt, forMs] = defaults[signal]
  return { signal, type, above, clearAt, forMs, clearForMs: 2 * minute, repeatMs: hour, enabled: true }
}

/** What a changed default was. */
function changedFrom(rule: AlertRule): AlertRuleDraft | null {
  if (!rule.isDefault) return null
  const was = { ...draftOf(rule.signal), enabled: rule.enabled }
  const isSame = Object.entries(was).every(([key, value]) => rule[key as keyof AlertRuleDraft] === value)
  return isSame ? null : was
}

/** Rules, incidents and silences of one queue. `trouble`: it fails now. */
export class DemoAlerts {
  private readonly connectionId: string
  private readonly now: () => number
  private readonly knownSince: number
  private rules: AlertRule[]
  private incidents: Incident[]
  private silences: Silence[] = []
  private made = 0

  constructor(connectionId: string, now: () => number, scene: { trouble: boolean; past: boolean }) {
    this.connectionId = connectionId
    this.now = now
    const at = now()
    this.knownSince = scene.past ? at - 40 * day : at - 10 * minute
    this.rules = alertSignals.map((signal) => ({ id: signal, connectionId, isDefault: true, ...draftOf(signal) }))
    if (scene.past) {
      const webhook = { ...draftOf('failureRate', 'webhook.deliver'), above: 0.02, clearAt: 0.01, forMs: 15 * minute }
      this.rules.push({ id: 'webhook', connectionId, isDefault: false, ...webhook })
      this.silences.push(this.silenceOf('webhook', at - 20 * hour, at + 220 * minute, 'partner migrates, known'))
    }
    this.incidents = scene.past ? this.past(at) : []
    if (scene.trouble) this.incidents.unshift(this.trouble(at))
  }

  state(): AlertState {
    const at = this.now()
    const silences = this.silences.filter((one) => one.until > at)
    const open = this.incidents.filter((one) => one.resolvedAt === null)
    return {
      connectionId: this.connectionId,
      rules: this.rules.map((rule) => this.view(rule, silences, at)),
      open,
      silences
    }
  }

  between(from: number, to: number): Incident[] {
    return this.incidents.filter((one) => one.openedAt <= to && (one.resolvedAt ?? to) >= from)
  }

  saveRule(ruleId: string | null, rule: AlertRuleDraft): AlertState {
    const isDefault = this.rules.find((one) => one.id === ruleId)?.isDefault ?? false
    const saved = { ...rule, id: ruleId ?? `rule-${++this.made}`, connectionId: this.connectionId, isDefault }
    this.rules = ruleId ? this.rules.map((one) => (one.id === ruleId ? saved : one)) : [...this.rules, saved]
    return this.state()
  }

  removeRule(ruleId: string): AlertState {
    this.rules = this.rules.flatMap((one) => {
      if (one.id !== ruleId) return [one]
      return one.isDefault ? [{ ...one, ...draftOf(one.signal) }] : []
    })
    return this.state()
  }

  acknowledge(incidentId: string, note: string): AlertState {
    const acknowledged = { at: this.now(), by: 'ada', note }
    this.incidents = this.incidents.map((one) => (one.id === incidentId ? { ...one, acknowledged } : one))
    return this.state()
  }

  silence(ruleId: string | null, durationMs: number, reason: string): AlertState {
    const at = this.now()
    this.silences = [...this.silences, this.silenceOf(ruleId, at, at + durationMs, reason)]
    return this.state()
  }

  unsilence(silenceId: string): AlertState {
    this.silences = this.silences.filter((one) => one.id !== silenceId)
    return this.state()
  }

  preview(rule: AlertRuleDraft, rangeMs: number): RulePreview {
    const to = this.now()
    const from = to - rangeMs
    const stepMs = Math.max(5_000, Math.ceil(rangeMs / 1_000))
    const times: number[] = []
    for (let at = from; at <= to; at += stepMs) times.push(at)
    const firings = this.incidents.flatMap((one) => one.firings)
    const values = times.map((at) => signalAt(rule, at, { firings, knownSince: this.knownSince }))
    const fired = (change: Partial<AlertRuleDraft>): number => firingsOf({ ...rule, ...change }, times, values).length
    const variants = [
      { above: rule.above * 1.5, forMs: rule.forMs },
      { above: rule.above / 2, forMs: rule.forMs },
      { above: rule.above, forMs: Math.max(minute, rule.forMs * 2.5) }
    ].filter((one) => one.above !== rule.above || one.forMs !== rule.forMs)
    return {
      from,
      to,
      stepMs,
      times,
      values,
      firings: firingsOf(rule, times, values),
      variants: variants.map((one) => ({
        ...one,
        fired: fired({ ...one, clearAt: Math.min(rule.clearAt, one.above) })
      }))
    }
  }

  /** As the app would have told of them. */
  deliveries(): Delivery[] {
    return this.incidents
      .filter((one) => one.firings.some((firing) => firing.firedAt !== null && !firing.silenced))
      .flatMap((one) => one.firings.flatMap((firing) => deliveriesOf(this.connectionId, one, firing)))
  }

  private view(rule: AlertRule, silences: readonly Silence[], at: number): AlertRuleView {
    const mine = this.incidents.flatMap((one) => one.firings).filter((one) => one.ruleId === rule.id)
    const open = mine.find((one) => one.resolvedAt === null)
    const firings = this.incidents.flatMap((one) => one.firings)
    const value = rule.enabled ? signalAt(rule, at, { firings, knownSince: this.knownSince }) : null
    const silenced = silences.filter((one) => one.ruleId === null || one.ruleId === rule.id).map((one) => one.until)
    return {
      rule,
      standard: changedFrom(rule),
      state:
        !rule.enabled || value === null ? 'unknown' : !open ? 'quiet' : open.firedAt === null ? 'pending' : 'firing',
      since: rule.enabled && open ? open.since : null,
      value: open ? open.value : value,
      silencedUntil: silenced.length > 0 ? Math.max(...silenced) : null,
      fired7d: mine.filter((one) => one.firedAt !== null && at - one.firedAt < 7 * day).length
    }
  }

  private silenceOf(ruleId: string | null, from: number, until: number, reason: string): Silence {
    return { id: `silence-${++this.made}`, connectionId: this.connectionId, ruleId, from, until, reason, by: 'ada' }
  }

  private firing(signal: AlertSignal, since: number, change: Partial<Firing>): Firing {
    const [above, , forMs] = defaults[signal]
    const id = `${this.connectionId}-${++this.made}`
    const firedAt = since + forMs
    return {
      id,
      ruleId: signal,
      signal,
      type: '',
      above,
      since,
      firedAt,
      resolvedAt: null,
      peak: above * 2,
      value: above * 1.5,
      silenced: false,
      ...change
    }
  }

  private trouble(at: number): Incident {
    const firings = [
      this.firing('failureRate', at - 19 * minute, { peak: 0.234, value: 0.219 }),
      this.firing('oldestMs', at - 12 * minute, { peak: 1_008_000, value: 1_008_000 }),
      this.firing('workersSilent', at - 162_000, { peak: 1, value: 1 }),
      this.firing('recoveredRise', at - 4 * minute, { peak: 24, value: 24, firedAt: null })
    ]
    return incidentOf('now', this.connectionId, firings)
  }

  private past(at: number): Incident[] {
    const one = (id: string, firing: Firing, ack: Incident['acknowledged'] = null): Incident =>
      incidentOf(id, this.connectionId, [firing], ack)
    const claim = at - 12 * hour
    const silent = at - 16 * hour
    const webhook = at - 20.5 * hour
    const note = { at: claim + 14 * minute, by: 'on-call', note: 'nightly archive, expected' }
    const spell = (ago: number, ms: number, peak: number): Firing =>
      this.firing('failureRate', at - ago, { resolvedAt: at - ago + ms, peak, value: 0.031 })
    return [
      one('claim', this.firing('claimP95', claim, { resolvedAt: claim + 37 * minute, peak: 412, value: 61 }), note),
      one('silent', this.firing('workersSilent', silent, { resolvedAt: silent + 6 * minute, peak: 1, value: 0 })),
      one(
        'webhook',
        this.firing('failureRate', webhook, {
          ruleId: 'webhook',
          type: 'webhook.deliver',
          above: 0.02,
          firedAt: webhook + 15 * minute,
          resolvedAt: webhook + 4 * hour,
          peak: 0.052,
          value: 0.009
        })
      ),
      one('spell-1', spell(60 * hour, 14 * minute, 0.139)),
      one('spell-2', spell(131 * hour, 18 * minute, 0.157))
    ]
  }
}

function deliveriesOf(connectionId: string, incident: Incident, firing: Firing): Delivery[] {
  if (firing.firedAt === null || firing.silenced) return []
  const made = (notifierId: string, what: Delivery['what'], at: number, change: Partial<Delivery> = {}): Delivery => ({
    id: `${firing.id}-${notifierId}-${what}`,
    notifierId,
    connectionId,
    incidentId: incident.id,
    what,
    at,
    status: 'delivered',
    tries: 1,
    answer: notifierId === 'desktop' ? '' : '200 OK',
    ms: notifierId === 'desktop' ? 4 : 79 + ((firing.id.length * 13) % 40),
    ...change
  })
  const failed = { status: 'failed' as const, tries: 5, answer: '503 Service Unavailable', ms: 10_004 }
  const isNow = incident.id === 'now' && firing.signal === 'workersSilent'
  return [
    made('desktop', 'fired', firing.firedAt + 400),
    made('on-call', 'fired', firing.firedAt + 900, isNow ? failed : {}),
    ...(firing.resolvedAt === null ? [] : [made('on-call', 'resolved', firing.resolvedAt + 500)])
  ]
}
