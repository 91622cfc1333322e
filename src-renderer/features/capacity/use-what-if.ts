import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'
import { withValue } from '@/shared/query-state.ts'
import { readWhatIf, typedValue, whatIfKeys, type WhatIf, type WhatIfKey } from './what-if.ts'

/** In the address, so that a plan can be copied; typing replaces the entry instead of adding one for each key. */
export function useWhatIf(): {
  readonly whatIf: ComputedRef<WhatIf>
  readonly isOn: ComputedRef<boolean>
  readonly set: (key: WhatIfKey, value: number | null) => void
  readonly reset: () => void
} {
  const route = useRoute()
  const router = useRouter()
  const whatIf = computed(() => readWhatIf(route.query))

  function set(key: WhatIfKey, value: number | null): void {
    const typed = typedValue(key, value)
    const query = withValue(route.query, key, typed === null ? null : String(typed))
    void router.replace({ query })
  }
  function reset(): void {
    const query = whatIfKeys.reduce((rest, key) => withValue(rest, key, null), route.query as LocationQueryRaw)
    void router.replace({ query })
  }
  return { whatIf, isOn: computed(() => Object.keys(whatIf.value).length > 0), set, reset }
}
