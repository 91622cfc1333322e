import type { Incident } from '@contract'
import type { ChartMark } from '@/shared/charts/chart-option.ts'

/** Incidents that somebody was to be told of, and the moment that the reader came to look at, as marks on every chart. */
export function incidentMarks(incidents: readonly Incident[], moment: number | null): ChartMark[] {
  const marks = toldIncidents(incidents).map(({ openedAt, resolvedAt }): ChartMark => ({
    kind: 'incident',
    from: openedAt,
    to: resolvedAt
  }))
  return moment === null ? marks : [...marks, { kind: 'moment', from: moment, to: null }]
}

/** Without those that have not fired yet, and those that were silent from beginning to end. */
export function toldIncidents(incidents: readonly Incident[]): Incident[] {
  return incidents.filter(({ firings }) => firings.some((one) => one.firedAt !== null && !one.silenced))
}
