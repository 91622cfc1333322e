import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { useAppStore } from '@/state/app-store.ts'
import type { SeriesRing } from '@/state/series-ring.ts'
import { useWindowStore } from './window-store.ts'

export interface WindowQuestion {
  readonly connectionId: string
  readonly from: number
  readonly to: number
}

/**
 * The series of a stretch of history; null while there is none, or when it cannot be had (the live picture says why). The stretch may move:
 * it is asked for again when it has moved by a twelfth of itself, with as much beyond its end.
 */
export function useWindowRing(question: Readonly<Ref<WindowQuestion | null>>): ComputedRef<SeriesRing | null> {
  const app = useAppStore()
  const windows = useWindowStore()
  const known = shallowRef<{ readonly key: string; readonly ring: SeriesRing } | null>(null)

  const asked = computed(() => {
    const one = question.value
    if (!one || app.link.kind !== 'open') return null
    const step = Math.max(1, (one.to - one.from) / 12)
    const from = Math.floor(one.from / step) * step
    return { ...one, from, to: from + one.to - one.from + step, key: `${one.connectionId} ${from} ${step}` }
  })
  watch(
    () => asked.value?.key,
    async () => {
      const mine = asked.value
      if (!mine) return
      try {
        const ring = await windows.load(mine.connectionId, mine.from, mine.to)
        if (asked.value?.key === mine.key) known.value = { key: mine.key, ring }
      } catch {
        // Without it there is less to see, and nothing false.
      }
    },
    { immediate: true }
  )
  /** One that has moved on by a step still fits until the next is here; another connection's never does. */
  return computed(() => {
    const ring = known.value?.ring
    return ring && question.value?.connectionId === ring.connectionId ? ring : null
  })
}
