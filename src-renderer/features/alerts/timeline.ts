import type { Delivery, Firing, Incident } from '@contract'

export type TimelineKind = 'fired' | 'pending' | 'resolved' | 'acknowledged'

/** One line of what happened. `deliveries` are those that it was told by. */
export interface TimelineEvent {
  readonly key: string
  readonly at: number
  readonly kind: TimelineKind
  readonly incident: Incident
  /** The rule's firing; of an acknowledgement the first of the incident. */
  readonly firing: Firing
  readonly deliveries: readonly Delivery[]
}

/** Everything that incidents and deliveries tell, the newest first. */
export function timelineOf(incidents: readonly Incident[], deliveries: readonly Delivery[]): TimelineEvent[] {
  return incidents
    .flatMap((incident) => eventsOf(incident, deliveries))
    .sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : -1))
}

function eventsOf(incident: Incident, deliveries: readonly Delivery[]): TimelineEvent[] {
  const mine = deliveries.filter((one) => one.incidentId === incident.id)
  const events = incident.firings.flatMap((firing): Omit<TimelineEvent, 'deliveries'>[] => {
    const event = (kind: TimelineKind, at: number): Omit<TimelineEvent, 'deliveries'> => ({
      key: `${firing.id} ${kind}`,
      at,
      kind,
      incident,
      firing
    })
    if (firing.firedAt === null) return [event('pending', firing.since)]
    return [
      event('fired', firing.firedAt),
      ...(firing.resolvedAt === null ? [] : [event('resolved', firing.resolvedAt)])
    ]
  })
  const [first] = incident.firings
  const { acknowledged } = incident
  if (first && acknowledged) {
    events.push({
      key: `${incident.id} acknowledged`,
      at: acknowledged.at,
      kind: 'acknowledged',
      incident,
      firing: first
    })
  }
  return events.map((event) => ({ ...event, deliveries: toldBy(event, events, mine) }))
}

/** A delivery names its incident only: it belongs to the event of its kind that is nearest in time. */
function toldBy(
  event: Omit<TimelineEvent, 'deliveries'>,
  all: readonly Omit<TimelineEvent, 'deliveries'>[],
  deliveries: readonly Delivery[]
): Delivery[] {
  if (event.kind !== 'fired' && event.kind !== 'resolved') return []
  const rivals = all.filter((one) => one.kind === event.kind)
  return deliveries.filter((delivery) => {
    if (delivery.what !== event.kind) return false
    const distance = (one: { at: number }): number => Math.abs(one.at - delivery.at)
    return rivals.every((rival) => distance(event) <= distance(rival))
  })
}
