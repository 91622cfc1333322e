import type { AlertRuleView, AlertState, Incident } from '@contract'

/**
 * What a row of the table says. `off`: switched off. `silenced`: it fires or waits to, and nobody is told. `acknowledged`: somebody has taken
 * it. `unknown`: there is no figure.
 */
export type RuleStatus = 'firing' | 'acknowledged' | 'pending' | 'silenced' | 'unknown' | 'quiet' | 'off'

/** The worst first: the order of the table. Some figures do not exist everywhere: what is unknown is not on top. */
const rank: readonly RuleStatus[] = ['firing', 'acknowledged', 'pending', 'silenced', 'quiet', 'unknown', 'off']

/** The open incident that a rule has a part in. */
export function openIncidentOf(state: AlertState, ruleId: string): Incident | undefined {
  return state.open.find(({ firings }) => firings.some((one) => one.ruleId === ruleId && one.resolvedAt === null))
}

/** `now` is the app's clock, which silences live by. */
export function ruleStatus(view: AlertRuleView, state: AlertState, now: number): RuleStatus {
  if (!view.rule.enabled) return 'off'
  if (view.silencedUntil !== null && view.silencedUntil > now) return 'silenced'
  if (view.state !== 'firing') return view.state
  return openIncidentOf(state, view.rule.id)?.acknowledged ? 'acknowledged' : 'firing'
}

export interface RuleRow {
  readonly view: AlertRuleView
  readonly status: RuleStatus
}

export function ruleRows(state: AlertState, now: number): RuleRow[] {
  return state.rules
    .map((view, order) => ({ view, status: ruleStatus(view, state, now), order }))
    .sort((a, b) => rank.indexOf(a.status) - rank.indexOf(b.status) || a.order - b.order)
    .map(({ view, status }) => ({ view, status }))
}

export type StatusCounts = Partial<Record<RuleStatus, number>>

export function countsOf(rows: readonly RuleRow[]): StatusCounts {
  const counts: StatusCounts = {}
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
