import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { withValue } from '@/shared/query-state.ts'

/** Seconds that 95 % of new tasks may wait; minutes until the backlog shall be gone. */
const defaults = { target: 5, drain: 10 } as const
export type Goal = keyof typeof defaults

/** In the address, like the numbers to try. */
export function useGoals(): {
  readonly goals: ComputedRef<Readonly<Record<Goal, number>>>
  readonly setGoal: (name: Goal, value: number | null) => void
} {
  const route = useRoute()
  const router = useRouter()
  const read = (name: Goal): number => {
    const value = Number(route.query[name])
    return Number.isFinite(value) && value > 0 ? value : defaults[name]
  }
  const goals = computed(() => ({ target: read('target'), drain: read('drain') }))

  function setGoal(name: Goal, value: number | null): void {
    const isDefault = value === null || value === defaults[name]
    void router.replace({ query: withValue({ ...route.query }, name, isDefault ? null : String(value)) })
  }
  return { goals, setGoal }
}
