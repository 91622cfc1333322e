import type Database from 'better-sqlite3'
import type { AlertRule, AlertRuleDraft, Delivery, Silence } from '../kernel/index.ts'
import type { StoredNotifier } from './alerts-port.ts'
import { isOpen, type KeptFiring, type KeptIncident } from './incidents.ts'
import { quietMemory, type RuleMemory } from './rule-machine.ts'
import { keptLimits, prepareStatements } from './statements.ts'

export type StoredRule = AlertRuleDraft & Pick<AlertRule, 'id'>

/** What the file knows of one connection. */
export interface StoredConnection {
  readonly rules: readonly StoredRule[]
  /** By rule. */
  readonly pending: ReadonlyMap<string, RuleMemory>
  /** Those that are open, and the one that was resolved last. */
  readonly incidents: readonly KeptIncident[]
}

type Flag = 0 | 1
type IncidentRow = Omit<KeptIncident, 'told' | 'firings' | 'acknowledged'> & {
  readonly told: Flag
  readonly acknowledgedAt: number | null
  readonly acknowledgedBy: string | null
  readonly note: string | null
}
type FiringRow = Omit<KeptFiring, 'silenced' | 'endedBy'> & {
  readonly incident: string
  readonly silenced: Flag
  readonly endedBy: KeptFiring['endedBy'] | null
}
type PendingRow = Pick<RuleMemory, 'since' | 'spacingMs' | 'aboveMs' | 'peak'> & {
  readonly ruleId: string
  readonly knownAt: number
  readonly value: number
}

const flag = (value: boolean): Flag => (value ? 1 : 0)

/** One SQLite database of rules and what came of them. Every method is synchronous and throws the driver's errors. */
export class AlertStore {
  private readonly db: Database.Database
  private readonly statements: ReturnType<typeof prepareStatements>

  constructor(db: Database.Database) {
    this.db = db
    this.statements = prepareStatements(db)
  }

  /** All of it or nothing. */
  write(work: () => void): void {
    this.db.transaction(work).immediate()
  }

  connection(connectionId: string): StoredConnection {
    const named = { connection: connectionId }
    const rules = this.statements.rules.all(connectionId) as (StoredRule & { enabled: unknown })[]
    const pendings = this.statements.pendings.all(connectionId) as PendingRow[]
    const open = joined(this.statements.openIncidents.all(named), this.statements.openFirings.all(named))
    const last = this.statements.lastResolved.get(connectionId) as string | undefined
    const resolved = last === undefined ? undefined : this.incident(last)
    return {
      rules: rules.map((rule) => ({ ...rule, enabled: Boolean(rule.enabled) })),
      pending: new Map(pendings.map((row) => [row.ruleId, memoryOf(row)])),
      incidents: resolved ? [...open, resolved] : open
    }
  }

  putRule(connectionId: string, rule: StoredRule): void {
    this.statements.putRule.run({ ...rule, connectionId, enabled: flag(rule.enabled) })
  }

  dropRule(connectionId: string, ruleId: string): void {
    this.statements.dropRule.run(connectionId, ruleId)
  }

  /** Keeps a rule that is pending; of one that is not, nothing needs to be known. */
  putMemory(connectionId: string, ruleId: string, memory: RuleMemory): void {
    if (memory.phase !== 'pending') {
      this.statements.dropPending.run(connectionId, ruleId)
      return
    }
    const { since, spacingMs, aboveMs, peak, lastValue, knownAt } = memory
    this.statements.putPending.run({ connectionId, ruleId, since, knownAt, spacingMs, aboveMs, peak, value: lastValue })
  }

  /** Those that end after `now`. */
  silences(now: number): Silence[] {
    return this.statements.silences.all(now) as Silence[]
  }

  putSilence(silence: Silence, now: number): void {
    this.write(() => {
      this.statements.putSilence.run(silence)
      this.statements.trimSilences.run(now)
    })
  }

  endSilence(silenceId: string, now: number): void {
    this.statements.endSilence.run(now, silenceId)
  }

  /** With those of its firings that changed. */
  putIncident(incident: KeptIncident, changed: readonly KeptFiring[]): void {
    const { id, connectionId, openedAt, resolvedAt, acknowledged } = incident
    this.statements.putIncident.run({
      ...{ id, connectionId, openedAt, resolvedAt, told: flag(incident.told) },
      acknowledgedAt: acknowledged?.at ?? null,
      acknowledgedBy: acknowledged?.by ?? null,
      note: acknowledged?.note ?? null
    })
    for (const firing of changed) {
      const { silenced, endedBy = null } = firing
      this.statements.putFiring.run({ ...firing, incident: id, connectionId, silenced: flag(silenced), endedBy })
    }
  }

  /** Those that overlap [from, to], newest first, at most 500. */
  incidents(connectionId: string, { from, to }: { from: number; to: number }): KeptIncident[] {
    const range = { connection: connectionId, from, to }
    return joined(this.statements.incidents.all(range), this.statements.firings.all(range))
  }

  incident(id: string): KeptIncident | undefined {
    return joined(this.statements.incident.all({ id }), this.statements.firingsOfIncident.all({ id }))[0]
  }

  /** Firings since `from` by rule; one that is not there had none. */
  firedSince(connectionId: string, from: number): Map<string, number> {
    const rows = this.statements.countFired.all(connectionId, from) as { ruleId: string; fired: number }[]
    return new Map(rows.map(({ ruleId, fired }) => [ruleId, fired]))
  }

  /** Deletes what is too old or too much. `now` or the newest incident, the earlier of both, decides what is old: one clock alone that is ahead deletes nothing. */
  trim(now: number): void {
    this.write(() => {
      const newest = this.statements.newestResolved.get() as number | null
      this.statements.trimByAge.run(Math.min(now, newest ?? now) - keptLimits.incidentsMs)
      this.statements.trimByCount.run()
      this.statements.trimByFirings.run()
      this.statements.trimDeliveries.run()
      this.statements.trimSilences.run(now)
    })
  }

  forget(connectionId: string): void {
    this.write(() => this.statements.forget.forEach((statement) => statement.run(connectionId)))
  }

  notifiers(): StoredNotifier[] {
    const rows = this.statements.notifiers.all() as (StoredNotifier & { enabled: unknown })[]
    return rows.map((row) => ({ ...row, enabled: Boolean(row.enabled) }))
  }

  putNotifier(notifier: StoredNotifier): void {
    this.statements.putNotifier.run({ ...notifier, enabled: flag(notifier.enabled) })
  }

  dropNotifier(notifierId: string): void {
    this.statements.dropNotifier.run(notifierId)
  }

  putDelivery(delivery: Delivery): void {
    this.statements.putDelivery.run(delivery)
  }

  /** A message that it fires, of those that are kept: until it is told to be over, the first ones are. */
  wasSent(notifierId: string, incidentId: string): boolean {
    return this.statements.wasSent.get(notifierId, incidentId) !== undefined
  }

  /** The newest 200, newest first. */
  deliveries(): Delivery[] {
    return this.statements.deliveries.all() as Delivery[]
  }

  close(): void {
    this.db.close()
  }
}

function joined(incidentRows: unknown[], firingRows: unknown[]): KeptIncident[] {
  const firings = new Map<string, KeptFiring[]>()
  for (const row of firingRows as FiringRow[]) {
    const of = firings.get(row.incident) ?? []
    of.push(firingOf(row))
    firings.set(row.incident, of)
  }
  return (incidentRows as IncidentRow[]).map(({ acknowledgedAt, acknowledgedBy, note, ...row }) => ({
    ...row,
    told: row.told === 1,
    acknowledged: acknowledgedAt === null ? null : { at: acknowledgedAt, by: acknowledgedBy ?? '', note: note ?? '' },
    firings: firings.get(row.id) ?? []
  }))
}

const firingOf = ({ incident: _incident, endedBy, ...row }: FiringRow): KeptFiring => ({
  ...row,
  silenced: row.silenced === 1,
  ...(endedBy ? { endedBy } : {})
})

const memoryOf = ({ ruleId: _ruleId, value, ...row }: PendingRow): RuleMemory => ({
  ...quietMemory,
  ...row,
  phase: 'pending',
  at: row.knownAt,
  lastValue: value
})

/** Where a rule is that fired in an earlier run. Clearing is counted from the next value on. */
export function memoryOfFiring(firing: KeptFiring): RuleMemory | undefined {
  if (!isOpen(firing)) return undefined
  const { since, firedAt, peak, value } = firing
  return { ...quietMemory, phase: 'firing', since, firedAt, peak, lastValue: value }
}
