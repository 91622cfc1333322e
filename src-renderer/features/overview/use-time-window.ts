import { computed, ref, watch, type ComputedRef, type WritableComputedRef } from 'vue'
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'
import { useQueryState } from '@/shared/query-state.ts'
import { rangeMs, toRange, type RangeName } from '@/shared/ranges.ts'

export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** How much earlier the values are that the charts compare with; null compares with nothing. */
export const compareMs = { '1d': 86_400_000, '7d': 604_800_000 } as const
export type CompareName = keyof typeof compareMs
const toCompare = (text: string | null): CompareName | null => (text === '1d' || text === '7d' ? text : null)

/** What lies before a moment that was linked to, of the range: what led to it is looked for first. */
const beforeMoment = 0.7

/**
 * The page's range, and the part of time that the reader has drawn or was sent to (`?at=MS`: the range around that moment); all of it in the
 * address.
 */
export function useTimeWindow(now: () => number): {
  range: WritableComputedRef<RangeName>
  compare: WritableComputedRef<CompareName | null>
  /** The moment that was linked to. */
  moment: ComputedRef<number | null>
  drawn: ComputedRef<TimeWindow | null>
  draw: (from: number, to: number, range?: RangeName) => void
  clear: () => void
} {
  const route = useRoute()
  const router = useRouter()
  const stored = useQueryState<RangeName>('range', toRange, (name) => (name === '1h' ? null : name))
  const moment = computed(() => {
    const at = Number(route.query['at'])
    return at > 0 ? at : null
  })
  /** When the moment was come to: its picture ends then at the latest, and stands still. */
  const cameAt = ref(now())
  watch(moment, () => (cameAt.value = now()))

  const drawn = computed(() => {
    const [from, to] = [Number(route.query['from']), Number(route.query['to'])]
    if (from > 0 && to > from) return { from, to }
    if (moment.value === null) return null
    const width = rangeMs[stored.value]
    const end = Math.min(moment.value + (1 - beforeMoment) * width, Math.max(cameAt.value, moment.value + 60_000))
    return { from: end - width, to: end }
  })

  function go(range: RangeName, change: LocationQueryRaw): void {
    const { from: _from, to: _to, range: _range, at: _at, ...others } = route.query
    void router.push({ query: { ...others, ...(range === '1h' ? {} : { range }), ...change } })
  }

  return {
    // Another range shows all of itself, around the moment if there is one.
    range: computed({
      get: () => stored.value,
      set: (name) => go(name, moment.value === null ? {} : { at: String(moment.value) })
    }),
    compare: useQueryState<CompareName | null>('compare', toCompare, (name) => name),
    moment,
    drawn,
    draw: (from, to, range) => go(range ?? stored.value, { from: String(from), to: String(to) }),
    clear: () => go(stored.value, {})
  }
}

/** The shortest range that reaches back to `from`. */
export function rangeReaching(from: number, now: number): RangeName {
  const names: RangeName[] = ['15m', '1h', '6h', '24h']
  return names.find((name) => now - from <= rangeMs[name]) ?? '24h'
}
