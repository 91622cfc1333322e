import { randomUUID } from 'node:crypto'
import type { AlertRule, AlertSignal, Firing, Point } from '../kernel/index.ts'
import { memoryOfFiring, type StoredConnection, type StoredRule } from './alert-store.ts'
import { defaultRules } from './default-rules.ts'
import { incidentFor, isOpen, withChanges, withFiring, type KeptFiring, type KeptIncident } from './incidents.ts'
import { quietMemory, ruleMachine, valueNow, type RuleMemory } from './rule-machine.ts'
import { Rising } from './rising.ts'
import { signalValue, type MetricValue } from './signals.ts'
import { tellingOf, type Told } from './telling.ts'

/** What decides about telling at this moment; `now` is the app's clock. */
export interface Circumstances {
  readonly now: number
  readonly isSilenced: (ruleId: string) => boolean
  /** Readings are fresh: what the rules last saw still counts. */
  readonly isFresh: boolean
}

export interface ChangedIncident {
  readonly incident: KeptIncident
  /** Those of its firings that are not as they were. */
  readonly firings: readonly KeptFiring[]
}

/** What a step changed: to be kept, told and shown. */
export interface Outcome {
  /** Something but a value. */
  readonly changed: boolean
  readonly incidents: readonly ChangedIncident[]
  /** Rules that became pending, or ceased to be. */
  readonly memories: readonly string[]
  readonly told: readonly Told[]
}

/** The rules of one connection and where they are, in memory. */
export class ConnectionAlerts {
  readonly connectionId: string
  private rulesNow: readonly AlertRule[]
  private readonly memories = new Map<string, RuleMemory>()
  private readonly rising = new Rising()
  /** Those that are open, and the one that was resolved last. */
  private incidents: readonly KeptIncident[]

  constructor(connectionId: string, stored: StoredConnection) {
    this.connectionId = connectionId
    this.rulesNow = effectiveRules(connectionId, stored.rules)
    this.incidents = stored.incidents
    for (const [ruleId, memory] of stored.pending) this.memories.set(ruleId, memory)
    for (const firing of this.openFirings()) {
      const memory = memoryOfFiring(firing)
      if (memory) this.memories.set(firing.ruleId, memory)
    }
  }

  get rules(): readonly AlertRule[] {
    return this.rulesNow
  }

  get open(): readonly KeptIncident[] {
    return this.incidents.filter(isOpen)
  }

  memory(ruleId: string): RuleMemory {
    return this.memories.get(ruleId) ?? quietMemory
  }

  rule(ruleId: string): AlertRule | undefined {
    return this.rulesNow.find(({ id }) => id === ruleId)
  }

  /** The open ones and the newest resolved one in their newest form; undefined for any other. */
  incident(id: string): KeptIncident | undefined {
    return this.incidents.find((incident) => incident.id === id)
  }

  /** All rules, over one good reading. */
  observe(at: number, points: readonly Point[], circumstances: Circumstances): Outcome {
    const rules = this.rulesNow.filter(({ enabled }) => enabled)
    const known = pointsByName(points, new Set(rules.map(({ type }) => type)))
    const rising = rules.filter(({ signal }) => signal === ('recoveredRise' satisfies AlertSignal))
    this.rising.add(at, new Map(rising.map(({ type }) => [type, known.get(nameOf('recovered5m', type))])))
    const valueOf = ({ signal, type }: AlertRule): number | null => {
      const now: MetricValue = (metric) => known.get(nameOf(metric, type))
      return signalValue(signal, { now, earlier: (metric) => this.rising.before(metric, type, at) })
    }
    return this.advance({ at, rules, valueOf }, circumstances)
  }

  /** Without a reading: only blindness has a value. */
  observeBlind(at: number, blindMs: number, circumstances: Circumstances): Outcome {
    const rules = this.rulesNow.filter(({ enabled, signal }) => enabled && signal === ('blindMs' satisfies AlertSignal))
    return this.advance({ at, rules, valueOf: () => blindMs }, circumstances)
  }

  /** Takes the rules as they are stored now. What a changed rule was firing or pending for is over. */
  setRules(stored: readonly StoredRule[], at: number, circumstances: Circumstances): Outcome {
    const before = this.rulesNow
    this.rulesNow = effectiveRules(this.connectionId, stored)
    const over = before.filter((rule) => isOver(rule, this.rule(rule.id), this.memory(rule.id)))
    return this.endRules(over, { at, endedBy: 'rule' }, circumstances)
  }

  /** Of another queue from now on: nothing that was seen counts any more. */
  endAll(at: number, circumstances: Circumstances): Outcome {
    this.rising.forget()
    return this.endRules(this.rulesNow, { at, endedBy: 'unknown' }, circumstances)
  }

  /** Nothing is known of blindness any more, as no readings are expected. */
  endBlindness(at: number, circumstances: Circumstances): Outcome {
    const rules = this.rulesNow.filter(({ signal }) => signal === ('blindMs' satisfies AlertSignal))
    return this.endRules(rules, { at, endedBy: 'rule' }, circumstances)
  }

  /** Firings of rules that are not there or are off: a crash came between both. */
  endOrphans(at: number, circumstances: Circumstances): Outcome {
    const work = new Work()
    for (const firing of this.openFirings())
      if (!this.rule(firing.ruleId)?.enabled) work.ended.push(endedFiring(firing, at, 'rule'))
    return this.settle(work, circumstances)
  }

  acknowledge(incident: KeptIncident): void {
    this.replace([incident])
  }

  /** Pending rules and open incidents, to be kept as they are now. */
  unsaved(): Pick<Outcome, 'incidents' | 'memories'> {
    const pending = [...this.memories].filter(([, { phase }]) => phase === 'pending')
    const incidents = this.open.map((incident) => ({ incident, firings: incident.firings.filter(isOpen) }))
    return { incidents, memories: pending.map(([ruleId]) => ruleId) }
  }

  private advance(
    { at, rules, valueOf }: { at: number; rules: readonly AlertRule[]; valueOf: (rule: AlertRule) => number | null },
    circumstances: Circumstances
  ): Outcome {
    const work = new Work()
    for (const rule of rules) {
      const before = this.memory(rule.id)
      const { memory, change } = ruleMachine(rule)(before, { at, value: valueOf(rule) })
      this.memories.set(rule.id, memory)
      if (isShownOtherwise(before, memory)) work.changed = true
      if ((before.phase === 'pending') !== (memory.phase === 'pending')) work.memories.push(rule.id)
      if (change === 'fired') work.fired.push(newFiring(rule, memory, circumstances.isSilenced(rule.id)))
      else if (before.phase === 'firing') this.followFiring(rule.id, { before, memory, change, work })
    }
    return this.settle(work, circumstances)
  }

  private followFiring(
    ruleId: string,
    of: { before: RuleMemory; memory: RuleMemory; change: 'resolved' | 'unknown' | null; work: Work }
  ): void {
    const firing = this.openFirings().find((open) => open.ruleId === ruleId)
    if (!firing) return
    const { memory, change, work } = of
    const value = memory.lastValue
    const seen = { ...firing, value, peak: Math.max(firing.peak, value) }
    if (change === null) work.seen.push(seen)
    else work.ended.push(endedFiring(seen, memory.at ?? 0, change === 'unknown' ? 'unknown' : undefined))
  }

  private endRules(
    rules: readonly AlertRule[],
    { at, endedBy }: { readonly at: number; readonly endedBy: Firing['endedBy'] },
    circumstances: Circumstances
  ): Outcome {
    const work = new Work()
    for (const { id } of rules) {
      if (this.memories.delete(id)) work.memories.push(id)
      const firing = this.openFirings().find(({ ruleId }) => ruleId === id)
      if (firing) work.ended.push(endedFiring(firing, at, endedBy))
    }
    work.changed = rules.length > 0
    return this.settle(work, circumstances)
  }

  /** Brings what happened into the incidents and finds what is to be told. */
  private settle(work: Work, circumstances: Circumstances): Outcome {
    const before = new Set(this.incidents.flatMap(({ firings }) => firings))
    const touched = new Set<string>()
    for (const { id } of work.ended) {
      const incident = this.incidents.find(({ firings }) => firings.some((firing) => firing.id === id))
      if (incident) touched.add(incident.id)
    }
    this.replace(this.open.map((incident) => withChanges(incident, [...work.seen, ...work.ended])))
    for (const firing of work.fired) touched.add(this.takeIn(firing))
    const told: Told[] = []
    for (const incident of this.incidents) {
      if (!isOpen(incident) && !touched.has(incident.id)) continue
      const telling = tellingOf(incident, { ...circumstances, ...this.tellingOf(circumstances) })
      if (!telling) continue
      told.push(telling)
      touched.add(incident.id)
    }
    this.replace(told.map(({ incident }) => incident))
    const incidents = this.incidents
      .filter(({ id }) => touched.has(id))
      .map((incident) => ({ incident, firings: incident.firings.filter((firing) => !before.has(firing)) }))
    this.dropResolved()
    return { changed: work.changed || touched.size > 0, incidents, memories: work.memories, told }
  }

  private tellingOf({ isFresh }: Circumstances) {
    return {
      repeatMs: (ruleId: string): number | null => this.rule(ruleId)?.repeatMs ?? null,
      isSeen: (ruleId: string): boolean => {
        const memory = this.memory(ruleId)
        return (
          valueNow(memory) !== null && memory.clearMs === null && (isFresh || this.rule(ruleId)?.signal === 'blindMs')
        )
      }
    }
  }

  /** Returns the incident's id. */
  private takeIn(firing: KeptFiring): string {
    const found = incidentFor(this.incidents, firing.since)
    if (found) {
      this.replace([withFiring(found, firing)])
      return found.id
    }
    const { firedAt } = firing
    const incident: KeptIncident = {
      ...{ id: randomUUID(), connectionId: this.connectionId, openedAt: firedAt, resolvedAt: null },
      ...{ acknowledged: null, firings: [firing], told: false }
    }
    this.incidents = [incident, ...this.incidents]
    return incident.id
  }

  private openFirings(): KeptFiring[] {
    return this.open.flatMap(({ firings }) => firings.filter(isOpen))
  }

  private replace(changed: readonly KeptIncident[]): void {
    const byId = new Map(changed.map((incident) => [incident.id, incident]))
    this.incidents = this.incidents.map((incident) => byId.get(incident.id) ?? incident)
  }

  private dropResolved(): void {
    const resolved = this.incidents.filter((incident) => !isOpen(incident))
    if (resolved.length < 2) return
    const last = resolved.reduce((a, b) => ((b.resolvedAt ?? 0) > (a.resolvedAt ?? 0) ? b : a))
    this.incidents = [...this.open, last]
  }
}

/** What the rules found in one step. */
class Work {
  changed = false
  readonly memories: string[] = []
  readonly fired: KeptFiring[] = []
  /** Open ones with a new value, and those that ended. */
  readonly seen: KeptFiring[] = []
  readonly ended: KeptFiring[] = []
}

/** Defaults first, changed or not. */
export function effectiveRules(connectionId: string, stored: readonly StoredRule[]): AlertRule[] {
  const changed = new Map(stored.map((rule) => [rule.id, rule]))
  const isDefault = new Set(defaultRules.map(({ id }) => id))
  return [
    ...defaultRules.map((rule) => ({ ...rule, ...changed.get(rule.id), connectionId })),
    ...stored.filter(({ id }) => !isDefault.has(id)).map((rule) => ({ ...rule, isDefault: false, connectionId }))
  ]
}

const isOver = (before: AlertRule, after: AlertRule | undefined, { phase }: RuleMemory): boolean =>
  !after?.enabled ||
  after.signal !== before.signal ||
  after.type !== before.type ||
  // Time above another threshold says nothing about this one.
  (phase === 'pending' && after.above !== before.above)

const isShownOtherwise = (before: RuleMemory, after: RuleMemory): boolean =>
  before.phase !== after.phase || (valueNow(before) === null) !== (valueNow(after) === null)

const newFiring = (rule: AlertRule, memory: RuleMemory, silenced: boolean): KeptFiring => ({
  ...{ id: randomUUID(), ruleId: rule.id, signal: rule.signal, type: rule.type, above: rule.above },
  ...{ since: memory.since, firedAt: memory.firedAt ?? memory.since, resolvedAt: null },
  ...{ peak: memory.peak, value: memory.lastValue, silenced, toldAt: null }
})

/** Not before it fired, whatever the clock did. */
const endedFiring = (firing: KeptFiring, at: number, endedBy: Firing['endedBy']): KeptFiring => ({
  ...firing,
  resolvedAt: Math.max(at, firing.firedAt),
  ...(endedBy ? { endedBy } : {})
})

const nameOf = (metric: string, type: string): string => `${metric} ${type}`

function pointsByName(points: readonly Point[], types: ReadonlySet<string>): Map<string, number> {
  const known = new Map<string, number>()
  for (const { metric, type, value } of points) if (types.has(type)) known.set(nameOf(metric, type), value)
  return known
}
