import { computed, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { AlertState, Delivery, Incident, Notifier, Problem } from '@contract'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { useAppStore } from '@/state/app-store.ts'
import { useMetricsStore } from '@/state/metrics-store.ts'
import { useIncidents } from '@/state/use-incidents.ts'
import { useNow } from '@/shared/format/use-now.ts'
import { toProblem } from '@/transport/problem.ts'
import { bentScale, type BentScale, type SpanName } from './bent-scale.ts'
import { isUnreachable } from './notifier-draft.ts'
import { lanesOf, type Lane } from './lanes.ts'
import { countsOf, openIncidentOf, ruleRows, type RuleRow } from './rule-status.ts'
import { timelineOf, type TimelineEvent } from './timeline.ts'
import type { Inspected } from './use-alert-route.ts'

/** Values alone are no event: while the page is open they are asked for with a tick, at most this often, ms. */
const refreshMs = 4_000
/** So long incidents are looked for, ms. */
const longestMs = 90 * 86_400_000

export interface AlertPicture {
  readonly state: ComputedRef<AlertState | undefined>
  /** Why there is none. */
  readonly problem: ShallowRef<Problem | null>
  readonly rows: ComputedRef<RuleRow[]>
  readonly hint: ComputedRef<string>
  /** `new` while one is made; the worst where none was chosen. */
  readonly chosenRuleId: ComputedRef<string | null>
  readonly chosenRow: ComputedRef<RuleRow | null>
  readonly incidents: ComputedRef<readonly Incident[]>
  readonly loading: ComputedRef<boolean>
  readonly incidentProblem: ShallowRef<Problem | null>
  /** The one that is looked at. */
  readonly incident: ComputedRef<Incident | undefined>
  /** It is not known yet whether there is one. */
  readonly looking: ComputedRef<boolean>
  /** The open one of the chosen rule. */
  readonly incidentOfRule: ComputedRef<Incident | undefined>
  readonly scale: ComputedRef<BentScale>
  readonly lanes: ComputedRef<Lane[]>
  readonly events: ComputedRef<TimelineEvent[]>
  /** Notifiers that are on and whose address is not known (any more). */
  readonly unreachable: ComputedRef<Notifier[]>
  /** Of the last day: those whose notifier has delivered nothing since. */
  readonly failedDeliveries: ComputedRef<Delivery[]>
  readonly deliveriesOf: (incidentId: string) => Delivery[]
  readonly notifierName: (id: string) => string
  readonly ask: () => Promise<void>
  readonly askIncidents: () => Promise<void>
  readonly lookAt: (incident: Incident) => void
}

/** Everything that the page shows of one connection's alerts, kept up to date while it is open. */
export function useAlertPicture(
  id: Readonly<Ref<string>>,
  span: Readonly<Ref<SpanName>>,
  inspected: Readonly<Ref<Inspected | null>>
): AlertPicture {
  const { t } = useI18n()
  const router = useRouter()
  const app = useAppStore()
  const alerts = useAlertsStore()
  const metrics = useMetricsStore()
  const now = useNow()
  const problem = shallowRef<Problem | null>(null)

  const state = computed(() => alerts.states.get(id.value))
  const rows = computed(() => (state.value ? ruleRows(state.value, now.value) : []))
  const counts = computed(() => countsOf(rows.value))
  const hint = computed(() =>
    (['firing', 'acknowledged', 'pending', 'silenced'] as const)
      .filter((status) => (counts.value[status] ?? 0) > 0)
      .map((status) => t(`alerts.counts.${status}`, { count: counts.value[status] ?? 0 }))
      .join(', ')
  )
  /** Moves every five seconds: lanes and their question stand still in between. */
  const to = computed(() => Math.ceil(Math.max(now.value, metrics.readings.get(id.value)?.at ?? 0) / 5_000) * 5_000)
  const scale = computed(() => bentScale(span.value, to.value))
  const found = useIncidents(computed(() => ({ connectionId: id.value, from: scale.value.from, to: scale.value.to })))

  const chosenRuleId = computed(() => {
    if (inspected.value?.kind === 'rule') {
      const { id: wanted } = inspected.value
      if (wanted === 'new' || rows.value.some((row) => row.view.rule.id === wanted)) return wanted
    }
    return rows.value[0]?.view.rule.id ?? null
  })
  const chosenRow = computed(() => rows.value.find((row) => row.view.rule.id === chosenRuleId.value) ?? null)
  const wanted = computed(() => (inspected.value?.kind === 'incident' ? inspected.value.id : null))
  const inPicture = computed(() => found.incidents.value.find((one) => one.id === wanted.value))
  const isOlder = computed(() => wanted.value !== null && !found.loading.value && inPicture.value === undefined)
  /** A link may lead to one that is older than the lanes go back. */
  const older = useIncidents(
    computed(() =>
      isOlder.value ? { connectionId: id.value, from: scale.value.to - longestMs, to: scale.value.to } : null
    )
  )
  const incident = computed(
    () => inPicture.value ?? older.incidents.value.find((one) => wanted.value !== null && one.id === wanted.value)
  )
  const incidentOfRule = computed(() =>
    state.value && chosenRuleId.value !== null ? openIncidentOf(state.value, chosenRuleId.value) : undefined
  )
  const silences = computed(() => state.value?.silences ?? [])
  const deliveries = computed(() => alerts.deliveries ?? [])
  const mine = computed(() => deliveries.value.filter((one) => one.connectionId === id.value))
  const failedDeliveries = computed(() => {
    const seen = new Set<string>()
    return deliveries.value.filter((one) => {
      const isNewest = !seen.has(one.notifierId)
      seen.add(one.notifierId)
      return isNewest && one.status === 'failed' && now.value - one.at < 86_400_000
    })
  })

  async function ask(): Promise<void> {
    if (app.link.kind !== 'open' || id.value === '') return
    try {
      await alerts.refresh(id.value)
      problem.value = null
    } catch (error) {
      problem.value = toProblem(error)
    }
  }
  /** What cannot be had is left as it was: rules and incidents do not depend on it. */
  async function askTold(): Promise<void> {
    if (app.link.kind !== 'open') return
    await Promise.allSettled([alerts.loadNotifiers(), alerts.loadDeliveries()])
  }

  let refreshedAt = 0
  watch(
    [id, () => app.link.kind],
    () => {
      void ask()
      void askTold()
    },
    { immediate: true }
  )
  watch(
    () => metrics.readings.get(id.value)?.at,
    (at) => {
      if (at === undefined || Math.abs(at - refreshedAt) < refreshMs) return
      refreshedAt = at
      void ask()
      if (deliveries.value.some((one) => one.status === 'sending')) void askTold()
    }
  )
  // Who was told is known some time after it fired.
  watch(
    () => state.value?.open.map((one) => [one.id, ...one.firings.map((firing) => firing.firedAt)].join(' ')).join(';'),
    (next, before) => {
      if (before !== undefined && next !== before) void askTold()
    }
  )

  return {
    state,
    problem,
    rows,
    hint,
    chosenRuleId,
    chosenRow,
    incidents: found.incidents,
    loading: found.loading,
    incidentProblem: found.problem,
    incident,
    looking: computed(() => found.loading.value || (isOlder.value && older.loading.value)),
    incidentOfRule,
    scale,
    lanes: computed(() =>
      lanesOf(found.incidents.value, { from: scale.value.from, to: scale.value.to, silences: silences.value })
    ),
    events: computed(() => timelineOf(found.incidents.value, mine.value)),
    unreachable: computed(() => (alerts.notifiers ?? []).filter(isUnreachable)),
    failedDeliveries,
    deliveriesOf: (incidentId) => mine.value.filter((one) => one.incidentId === incidentId),
    notifierName: (notifierId) => alerts.notifiers?.find((one) => one.id === notifierId)?.name ?? notifierId,
    ask,
    askIncidents: found.ask,
    lookAt({ firings, openedAt }) {
      const at = firings.find((one) => one.firedAt !== null)?.firedAt ?? openedAt
      const query = { at: String(Math.round(at)) }
      void router.push({ name: 'overview', params: { connectionId: id.value }, query })
    }
  }
}
