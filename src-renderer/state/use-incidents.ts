import { computed, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { AlertState, Incident, Problem } from '@contract'
import { toProblem } from '@/transport/problem.ts'
import { useAlertsStore } from './alerts-store.ts'
import { useAppStore } from './app-store.ts'

/** Times move on with every reading; the question is asked again when they have moved by this part of the range. */
const steps = 48

/**
 * Incidents of one connection that overlap `from` to `to`, newest first, those that are open as the newest event tells them. Asked for
 * when the range or what is open changes.
 */
export function useIncidents(
  question: Ref<{ readonly connectionId: string; readonly from: number; readonly to: number } | null>
): {
  incidents: ComputedRef<readonly Incident[]>
  /** Until the first answer. */
  loading: ComputedRef<boolean>
  problem: ShallowRef<Problem | null>
  ask: () => Promise<void>
} {
  const alerts = useAlertsStore()
  const app = useAppStore()
  const answer = shallowRef<{ readonly key: string; readonly incidents: readonly Incident[] } | null>(null)
  const problem = shallowRef<Problem | null>(null)
  let newest = 0

  const state = computed(() => alerts.states.get(question.value?.connectionId ?? ''))
  const key = computed(() => {
    const asked = question.value
    if (!asked) return ''
    const step = Math.max(1, (asked.to - asked.from) / steps)
    return [asked.connectionId, Math.floor(asked.from / step), Math.floor(asked.to / step)].join(' ')
  })
  const shown = computed(() => (answer.value?.key === question.value?.connectionId ? answer.value : null))
  const incidents = computed(() => withOpen(shown.value?.incidents ?? [], state.value, question.value?.to ?? 0))
  const loading = computed(() => shown.value === null && problem.value === null)

  async function ask(): Promise<void> {
    const asked = question.value
    if (!asked || app.link.kind !== 'open') return
    const mine = ++newest
    try {
      const found = await alerts.incidentsIn(asked.connectionId, asked.from, asked.to)
      if (mine !== newest) return
      answer.value = { key: asked.connectionId, incidents: found }
      problem.value = null
    } catch (error) {
      if (mine === newest) problem.value = toProblem(error)
    }
  }

  watch([key, () => incidentKey(state.value), () => app.link.kind], () => void ask(), { immediate: true })
  return { incidents, loading, problem, ask }
}

/** What is open by the newest event, in place of the same ones in an older answer. */
function withOpen(known: readonly Incident[], state: AlertState | undefined, to: number): readonly Incident[] {
  if (!state) return known
  const open = state.open.filter((incident) => incident.openedAt <= to)
  const ids = new Set(open.map((incident) => incident.id))
  return [...open, ...known.filter((incident) => !ids.has(incident.id))].sort((a, b) => b.openedAt - a.openedAt)
}

/** Changes when an incident opens, grows, is acknowledged or ends; not when a value moves. */
function incidentKey(state: AlertState | undefined): string {
  return (state?.open ?? [])
    .map(({ id, firings, acknowledged }) =>
      [id, acknowledged?.at, ...firings.map((one) => `${one.id} ${one.firedAt} ${one.resolvedAt}`)].join(',')
    )
    .join(';')
}
