import type { AlertSignal, Firing, Incident, Silence } from '@contract'

export type Phase = 'pending' | 'firing' | 'acknowledged' | 'silenced'

/** One stretch of a firing, cut to the picture. */
export interface LaneSpan {
  readonly incidentId: string
  readonly phase: Phase
  readonly from: number
  readonly to: number
}

/** One rule's firings over the picture. */
export interface Lane {
  readonly ruleId: string
  readonly signal: AlertSignal
  readonly type: string
  readonly spans: readonly LaneSpan[]
  /** The newest firing: what the end of the lane says. */
  readonly newest: Firing
  readonly newestIncident: Incident
}

interface Picture {
  readonly from: number
  readonly to: number
  readonly silences: readonly Silence[]
}

/** One lane a rule that fired, those that still do first, then the newest. */
export function lanesOf(incidents: readonly Incident[], picture: Picture): Lane[] {
  const byRule = new Map<string, { firing: Firing; incident: Incident }[]>()
  for (const incident of incidents) {
    for (const firing of incident.firings) {
      const known = byRule.get(firing.ruleId) ?? []
      known.push({ firing, incident })
      byRule.set(firing.ruleId, known)
    }
  }
  return [...byRule]
    .flatMap(([ruleId, found]) => {
      const spans = found.flatMap(({ firing, incident }) => spansOf(firing, incident, picture))
      const newest = [...found].sort((a, b) => b.firing.since - a.firing.since)[0]
      if (!newest || spans.length === 0) return []
      const { signal, type } = newest.firing
      return [{ ruleId, signal, type, spans, newest: newest.firing, newestIncident: newest.incident }]
    })
    .sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || b.newest.since - a.newest.since)
}

const isOpen = (lane: Lane): boolean => lane.newest.resolvedAt === null

/** Where its phase changes, in order; each stretch has the strongest phase that holds in it. */
export function spansOf(firing: Firing, incident: Incident, { from, to, silences }: Picture): LaneSpan[] {
  const end = Math.min(to, firing.resolvedAt ?? to)
  const start = Math.max(from, firing.since)
  if (end <= start) return []
  const mine = silences.filter((one) => one.ruleId === null || one.ruleId === firing.ruleId)
  const edges = [firing.firedAt, incident.acknowledged?.at, ...mine.flatMap((one) => [one.from, one.until])]
  const inside = edges.filter((at): at is number => typeof at === 'number' && at > start && at < end)
  const cuts = [...new Set([start, ...inside, end])].sort((a, b) => a - b)
  const spans: LaneSpan[] = []
  cuts.slice(0, -1).forEach((at, i) => {
    const until = cuts[i + 1] ?? end
    const phase = phaseAt(firing, incident, mine, at)
    const last = spans.at(-1)
    if (last?.phase === phase) spans[spans.length - 1] = { ...last, to: until }
    else spans.push({ incidentId: incident.id, phase, from: at, to: until })
  })
  return spans
}

function phaseAt(firing: Firing, incident: Incident, silences: readonly Silence[], at: number): Phase {
  if (firing.firedAt === null || at < firing.firedAt) return 'pending'
  if (firing.silenced || silences.some((one) => at >= one.from && at < one.until)) return 'silenced'
  return incident.acknowledged !== null && at >= incident.acknowledged.at ? 'acknowledged' : 'firing'
}
