import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import type { Incident } from '@contract'
import { useTableKeys } from '@/shared/keys/use-table-keys.ts'
import type { RuleRow } from './rule-status.ts'
import type { AlertActions } from './use-alert-actions.ts'
import type { Inspected } from './use-alert-route.ts'

interface Keyed {
  readonly inspected: ComputedRef<Inspected | null>
  readonly rows: ComputedRef<readonly RuleRow[]>
  readonly chosenRuleId: ComputedRef<string | null>
  readonly incidents: ComputedRef<readonly Incident[]>
  readonly incident: ComputedRef<Incident | undefined>
  readonly incidentOfRule: ComputedRef<Incident | undefined>
  readonly silencing: WritableComputedRef<string | null>
  readonly actions: AlertActions
  readonly show: (what: Inspected | null) => void
  readonly look: (incident: Incident) => void
}

/**
 * j and k walk through the rules, or through the incidents while one is open; Enter goes deeper (a rule's incident, an incident's moment on
 * the Overview), Esc back. a acknowledges, m silences, n makes a rule, i opens the newest incident.
 */
export function useAlertKeys(page: Keyed): void {
  const atIncident = computed(() => page.inspected.value?.kind === 'incident')
  const current = computed({
    get: () =>
      atIncident.value
        ? page.incidents.value.findIndex((one) => one.id === page.incident.value?.id)
        : page.rows.value.findIndex((row) => row.view.rule.id === page.chosenRuleId.value),
    set: (row) => {
      const incident = page.incidents.value[row]
      const rule = page.rows.value[row]?.view.rule
      if (atIncident.value && incident) page.show({ kind: 'incident', id: incident.id })
      else if (rule) page.show({ kind: 'rule', id: rule.id })
    }
  })
  /** The incident that a key is about. */
  const meant = (): Incident | undefined => (atIncident.value ? page.incident.value : page.incidentOfRule.value)

  useTableKeys({
    current,
    count: () => (atIncident.value ? page.incidents.value.length : page.rows.value.length),
    open: () => {
      const incident = meant()
      if (!incident) return
      if (atIncident.value) page.look(incident)
      else page.show({ kind: 'incident', id: incident.id })
    },
    close: () => page.show(null),
    letters: {
      a: () => {
        const incident = meant()
        if (incident && incident.resolvedAt === null && !incident.acknowledged) page.actions.ask(incident)
      },
      m: () => {
        const rule = page.rows.value.find((row) => row.view.rule.id === page.chosenRuleId.value)
        if (rule && rule.status !== 'off') page.silencing.value = atIncident.value ? 'all' : rule.view.rule.id
      },
      n: () => page.show({ kind: 'rule', id: 'new' }),
      i: () => {
        const [newest] = page.incidents.value
        if (newest) page.show({ kind: 'incident', id: newest.id })
      }
    }
  })
}
