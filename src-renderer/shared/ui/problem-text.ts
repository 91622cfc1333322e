import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import type { Problem } from '@contract'
import { hasText } from '../i18n/i18n.ts'

interface ProblemKey {
  /** Below it are `what` and `try`; null: there is no text for this code. */
  readonly key: string | null
  /** The text is of the field that is wrong. */
  readonly isOfField: boolean
}

function problemKey({ code, details }: Problem): ProblemKey {
  const ofField = `problems.${code}.on.${details['field'] ?? ''}`
  if (hasText(`${ofField}.what`)) return { key: ofField, isOfField: true }
  return { key: hasText(`problems.${code}.what`) ? `problems.${code}` : null, isOfField: false }
}

type Translate = (key: string, named: Record<string, unknown>) => string

/** What happened, in the page's language. */
export function whatHappened(t: Translate, problem: Problem): string {
  const { key } = problemKey(problem)
  return key === null ? problem.message : t(`${key}.what`, problem.details)
}

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
  const found = computed(() => problemKey(problem.value))
  const tryThis = computed(() => {
    const { key } = found.value
    return key !== null && hasText(`${key}.try`) ? t(`${key}.try`, problem.value.details) : ''
  })
  return {
    what: computed(() => whatHappened(t, problem.value)),
    tryThis,
    detail: computed(() =>
      found.value.key === null || (found.value.isOfField && tryThis.value !== '') ? '' : problem.value.message
    )
  }
}
