import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Problem } from '@contract'
import { hasText } from '../i18n/i18n.ts'

/**
 * A problem in the page's language, found by its code: what happened and what to try. A code without a translation shows the
 * English message. `detail` is that message too, wherever it says more than the translation.
 */
export function useProblemText(problem: Ref<Problem>): {
  what: ComputedRef<string>
  tryThis: ComputedRef<string>
  detail: ComputedRef<string>
} {
  const { t } = useI18n()
  const known = computed(() => hasText(`problems.${problem.value.code}.what`))
  const text = (part: string): string => t(`problems.${problem.value.code}.${part}`, problem.value.details)
  return {
    what: computed(() => (known.value ? text('what') : problem.value.message)),
    tryThis: computed(() => (known.value && hasText(`problems.${problem.value.code}.try`) ? text('try') : '')),
    detail: computed(() => (known.value ? problem.value.message : ''))
  }
}
