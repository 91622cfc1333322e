import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { withValue } from '@/shared/query-state.ts'
import { filtersOf, noFilters, queryWith, type TaskFilters } from './task-filters.ts'

export interface TaskRoute {
  readonly filters: ComputedRef<TaskFilters>
  /** The open task's id, null for none. Moving from one task to the next leaves no entry in the history. */
  readonly openId: WritableComputedRef<string | null>
  /** Typing replaces the address; a choice can be gone back from. */
  readonly change: (part: Partial<TaskFilters>, how?: 'push' | 'replace') => void
  readonly clear: () => void
}

/** Filters and the open task live in the address. */
export function useTaskRoute(): TaskRoute {
  const route = useRoute()
  const router = useRouter()
  const filters = computed(() => filtersOf(route.query))

  function change(part: Partial<TaskFilters>, how: 'push' | 'replace' = 'push'): void {
    void router[how]({ query: queryWith(route.query, { ...filters.value, ...part }) })
  }

  const openId = computed({
    get: () => {
      const value = route.query['task']
      return typeof value === 'string' && /^[1-9]\d{0,19}$/.test(value) ? value : null
    },
    set: (id) => {
      const moves = openId.value !== null && id !== null
      void router[moves ? 'replace' : 'push']({ query: withValue({ ...route.query }, 'task', id) })
    }
  })

  return { filters, openId, change, clear: () => change(noFilters) }
}
