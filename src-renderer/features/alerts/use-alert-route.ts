import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useQueryState } from '@/shared/query-state.ts'
import { toSpan, type SpanName } from './bent-scale.ts'

/** What stands beside the table: a rule (`new` is one that is being made), an incident, or whom the app tells. */
export type Inspected =
  | { readonly kind: 'rule'; readonly id: string }
  | { readonly kind: 'incident'; readonly id: string }
  | { readonly kind: 'notifiers'; readonly id: string }

/** The page's state in the address: `?rule=ID|new`, `?incident=ID`, `?notifier=all|new|ID`, `?silence=all|RULE`, `?span=24h|7d|30d`. */
export function useAlertRoute(): {
  /** null: nothing was chosen, the worst rule is shown. */
  inspected: ComputedRef<Inspected | null>
  span: WritableComputedRef<SpanName>
  /** The rule that the dialog is to silence, `all` for every one; null while it is closed. */
  silencing: WritableComputedRef<string | null>
  show: (what: Inspected | null) => void
} {
  const route = useRoute()
  const router = useRouter()
  const text = (key: string): string | null => {
    const value = route.query[key]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const inspected = computed<Inspected | null>(() => {
    const notifier = text('notifier')
    if (notifier !== null) return { kind: 'notifiers', id: notifier }
    const incident = text('incident')
    if (incident !== null) return { kind: 'incident', id: incident }
    const rule = text('rule')
    return rule === null ? null : { kind: 'rule', id: rule }
  })

  function show(what: Inspected | null): void {
    const { rule: _rule, incident: _incident, notifier: _notifier, ...others } = route.query
    const key = what?.kind === 'notifiers' ? 'notifier' : (what?.kind ?? '')
    void router.push({ query: { ...others, ...(what ? { [key]: what.id } : {}) } })
  }

  return {
    inspected,
    span: useQueryState<SpanName>('span', toSpan, (name) => (name === '24h' ? null : name)),
    silencing: useQueryState<string | null>(
      'silence',
      (id) => id,
      (id) => id
    ),
    show
  }
}
