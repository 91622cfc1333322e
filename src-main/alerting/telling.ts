import { firingSince, type AlertSignal } from '../kernel/index.ts'
import type { IncidentMessage, WorstType } from './alerts-port.ts'
import { firingView, incidentView, isOpen, withChanges, type KeptFiring, type KeptIncident } from './incidents.ts'

/** What decides whether somebody is told, beside the incident itself. */
export interface TellingRules {
  /** By the app's clock. */
  readonly now: number
  /** Nobody is told of this rule now. */
  readonly isSilenced: (ruleId: string) => boolean
  readonly repeatMs: (ruleId: string) => number | null
  /** It is seen to fire now: what was true when last seen, or clears already, is not told again. */
  readonly isSeen: (ruleId: string) => boolean
}

export interface Told {
  /** As it is once that was told. */
  readonly incident: KeptIncident
  readonly what: 'fired' | 'repeated' | 'resolved'
  readonly firings: readonly KeptFiring[]
}

/** What is to be told of one incident now; at most one message. undefined: nothing. */
export function tellingOf(incident: KeptIncident, rules: TellingRules): Told | undefined {
  if (!isOpen(incident)) return resolvedTelling(incident, rules)
  const unheard = incident.firings.filter((firing) => isUnheard(firing, incident, rules))
  if (unheard.length > 0) return told(incident, { what: 'fired', firings: unheard, now: rules.now })
  if (incident.acknowledged || !incident.firings.some((firing) => isDue(firing, rules))) return undefined
  const firing = incident.firings.filter((of) => isOpen(of) && of.toldAt !== null && !rules.isSilenced(of.ruleId))
  return told(incident, { what: 'repeated', firings: firing, now: rules.now })
}

/** Also true when a silence has ended and it still fires, unless somebody has it in hand already. */
function isUnheard(firing: KeptFiring, incident: KeptIncident, { isSilenced, isSeen }: TellingRules): boolean {
  if (!isOpen(firing) || firing.toldAt !== null || isSilenced(firing.ruleId)) return false
  return !firing.silenced || (incident.acknowledged === null && isSeen(firing.ruleId))
}

function isDue(firing: KeptFiring, { now, repeatMs, isSilenced, isSeen }: TellingRules): boolean {
  if (!isOpen(firing) || firing.toldAt === null) return false
  const everyMs = repeatMs(firing.ruleId)
  if (everyMs === null || isSilenced(firing.ruleId) || !isSeen(firing.ruleId)) return false
  // A clock that was ahead when it was told must not hold back what follows.
  return Math.abs(now - firing.toldAt) >= everyMs
}

/**
 * What somebody whom messages reach only now is told of: what fires and others have heard of. None of what somebody has in hand, nor of
 * what is told to all with the next step anyway.
 */
export function newcomerTelling(incident: KeptIncident, isSilenced: TellingRules['isSilenced']): Told | undefined {
  if (incident.acknowledged) return undefined
  const firings = incident.firings.filter((of) => isOpen(of) && of.toldAt !== null && !isSilenced(of.ruleId))
  return firings.length > 0 ? { what: 'fired', incident, firings } : undefined
}

/** `at` is now, by the readings' clock; `worstOf` by what is known now. */
export const messageOf = (
  { what, incident, firings }: Told,
  { at, worstOf }: { readonly at: number; readonly worstOf: (signal: AlertSignal) => WorstType | null }
): IncidentMessage => ({
  ...{ what, at, connectionId: incident.connectionId },
  incident: incidentView(incident),
  firings: firings.map((firing) => ({
    ...firingView(firing),
    since: firingSince(firing, at),
    worst: firing.type === '' && isOpen(firing) ? worstOf(firing.signal) : null
  }))
})

function resolvedTelling(incident: KeptIncident, { isSilenced }: TellingRules): Told | undefined {
  const heard = incident.firings.filter(({ toldAt }) => toldAt !== null)
  if (!incident.told || heard.every(({ ruleId }) => isSilenced(ruleId))) return undefined
  return { what: 'resolved', firings: heard, incident: { ...incident, told: false } }
}

function told(
  incident: KeptIncident,
  { what, firings, now }: { what: 'fired' | 'repeated'; firings: readonly KeptFiring[]; now: number }
): Told {
  const heard = firings.map((firing) => ({ ...firing, silenced: false, toldAt: now }))
  return { what, firings: heard, incident: { ...withChanges(incident, heard), told: true } }
}
