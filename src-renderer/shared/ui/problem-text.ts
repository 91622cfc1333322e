import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Problem } from '@contract'
import { hasText } from '../i18n/i18n.ts'

/**
 * A problem in the page's language, found by its code: what happened and what to try. A code without a translation shows the
 * English message. INVALID_INPUT stands for any refused value, so the field that `details` names may have texts of its own
 * (`problems.INVALID_INPUT.on.FIELD`). `detail` is the message, wherever it says more than the translation: one that says what to try needs none.
 */
export function useProblemText(problem: Ref<Problem>): {
  what: ComputedRef<string>
  tryThis: ComputedRef<string>
  detail: ComputedRef<string>
} {
  const { t } = useI18n()
  const ofField = computed(() => {
    const key = `problems.${problem.value.code}.on.${problem.value.details['field'] ?? ''}`
    return hasText(`${key}.what`) ? key : null
  })
  const key = computed(() => ofField.value ?? `problems.${problem.value.code}`)
  const known = computed(() => hasText(`${key.value}.what`))
  const text = (part: string): string => t(`${key.value}.${part}`, problem.value.details)
  return {
    what: computed(() => (known.value ? text('what') : problem.value.message)),
    tryThis: computed(() => (known.value && hasText(`${key.value}.try`) ? text('try') : '')),
    detail: computed(() =>
      known.value && (ofField.value === null || !hasText(`${ofField.value}.try`)) ? problem.value.message : ''
    )
  }
}
