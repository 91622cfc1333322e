import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useQueryState } from '@/shared/query-state.ts'
import { rangeMs, toRange, type RangeName } from '@/shared/ranges.ts'

export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** The page's range, and the part of it that the reader has drawn; both live in the address. */
export function useTimeWindow(): {
  range: WritableComputedRef<RangeName>
  drawn: ComputedRef<TimeWindow | null>
  draw: (from: number, to: number, range?: RangeName) => void
  clear: () => void
} {
  const route = useRoute()
  const router = useRouter()
  const stored = useQueryState<RangeName>('range', toRange, (name) => (name === '1h' ? null : name))
  const drawn = computed(() => {
    const [from, to] = [Number(route.query['from']), Number(route.query['to'])]
    return from > 0 && to > from ? { from, to } : null
  })

  function go(range: RangeName, window: TimeWindow | null): void {
    const { from: _from, to: _to, range: _range, ...others } = route.query
    void router.push({
      query: {
        ...others,
        ...(range === '1h' ? {} : { range }),
        ...(window ? { from: String(window.from), to: String(window.to) } : {})
      }
    })
  }

  return {
    // Another range shows all of itself.
    range: computed({ get: () => stored.value, set: (name) => go(name, null) }),
    drawn,
    draw: (from, to, range) => go(range ?? stored.value, { from, to }),
    clear: () => go(stored.value, null)
  }
}

/** The shortest range that reaches back to `from`. */
export function rangeReaching(from: number, now: number): RangeName {
  const names: RangeName[] = ['15m', '1h', '6h', '24h']
  return names.find((name) => now - from <= rangeMs[name]) ?? '24h'
}
