import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { AlertRuleDraft, Problem, RulePreview } from '@contract'
import { useAlertsStore } from '@/state/alerts-store.ts'
import { toProblem } from '@/transport/problem.ts'

/** Typing is not answered letter by letter. */
const restMs = 250

/** When a rule would have fired, for the newest draft only; the old picture stays until the new one is here. */
export function useRulePreview(
  question: Ref<{ readonly connectionId: string; readonly rule: AlertRuleDraft; readonly rangeMs: number } | null>
): {
  preview: ShallowRef<RulePreview | null>
  problem: ShallowRef<Problem | null>
  loading: Ref<boolean>
  /** The picture is of an earlier draft. */
  old: ComputedRef<boolean>
  ask: () => Promise<void>
} {
  const alerts = useAlertsStore()
  const preview = shallowRef<RulePreview | null>(null)
  const problem = shallowRef<Problem | null>(null)
  const loading = ref(false)
  const shown = ref('')
  let newest = 0
  let rest: ReturnType<typeof setTimeout> | undefined
  const key = computed(() => JSON.stringify(question.value))

  async function ask(): Promise<void> {
    const asked = question.value
    const mine = ++newest
    const askedKey = key.value
    if (!asked) return
    loading.value = true
    try {
      const found = await alerts.preview(asked.connectionId, asked.rule, asked.rangeMs)
      if (mine !== newest) return
      preview.value = found
      problem.value = null
      shown.value = askedKey
    } catch (error) {
      if (mine === newest) problem.value = toProblem(error)
    } finally {
      if (mine === newest) loading.value = false
    }
  }

  watch(
    key,
    () => {
      clearTimeout(rest)
      if (preview.value === null) void ask()
      else rest = setTimeout(() => void ask(), restMs)
    },
    { immediate: true }
  )
  onScopeDispose(() => {
    newest++
    clearTimeout(rest)
  })
  return { preview, problem, loading, old: computed(() => preview.value !== null && shown.value !== key.value), ask }
}
