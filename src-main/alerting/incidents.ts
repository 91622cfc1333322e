import { groupMs, type Firing, type Incident } from '../kernel/index.ts'

/** A firing with what was told of it. */
export interface KeptFiring extends Firing {
  readonly firedAt: number
  /** When somebody was last told, by the app's clock; null: nobody was. */
  readonly toldAt: number | null
}

export interface KeptIncident extends Omit<Incident, 'firings'> {
  readonly firings: readonly KeptFiring[]
  /** Somebody was told of it, and not yet that it is over. */
  readonly told: boolean
}

/** One that goes on for weeks must not grow for ever: the next firing opens another. */
export const firingsPerIncident = 200

/** What the rest of the app sees of it. */
export function incidentView({ told: _told, firings, ...incident }: KeptIncident): Incident {
  return { ...incident, firings: firings.map(firingView) }
}

export const firingView = ({ toldAt: _toldAt, ...firing }: KeptFiring): Firing => firing

export const isOpen = (stretch: { readonly resolvedAt: number | null }): boolean => stretch.resolvedAt === null

/** The incident that a firing which began at `since` belongs to: one that is open, or was until `groupMs` before. */
export function incidentFor(incidents: readonly KeptIncident[], since: number): KeptIncident | undefined {
  const withRoom = incidents.filter(({ firings }) => firings.length < firingsPerIncident)
  const newestFirst = [...withRoom].sort((a, b) => b.openedAt - a.openedAt)
  const follows = ({ openedAt, resolvedAt }: KeptIncident): boolean =>
    resolvedAt !== null && since <= resolvedAt + groupMs && since >= openedAt - groupMs
  return newestFirst.find(isOpen) ?? newestFirst.find(follows)
}

/**
 * Takes it in; one that was over is open again. What was acknowledged stays so while the same rules fire again; a rule that had not fired says
 * something that nobody has taken.
 */
export function withFiring(incident: KeptIncident, firing: KeptFiring): KeptIncident {
  const isNew = incident.firings.every(({ ruleId }) => ruleId !== firing.ruleId)
  const acknowledged = isNew ? null : incident.acknowledged
  return { ...incident, acknowledged, resolvedAt: null, firings: [...incident.firings, firing] }
}

/** With these firings in their new form. It is over when its last firing is. */
export function withChanges(incident: KeptIncident, changed: readonly KeptFiring[]): KeptIncident {
  const byId = new Map(changed.map((firing) => [firing.id, firing]))
  const firings = incident.firings.map((firing) => byId.get(firing.id) ?? firing)
  const resolvedAt = firings.some(isOpen) ? null : Math.max(...firings.map((firing) => firing.resolvedAt ?? 0))
  return { ...incident, firings, resolvedAt }
}
