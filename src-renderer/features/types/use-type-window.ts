import { computed, type ComputedRef, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { toRange, type RangeName } from '@/shared/ranges.ts'

/** The page's range, and the part of it that the reader has drawn in a chart; both live in the address. */
export function useTypeWindow(): {
  range: WritableComputedRef<RangeName>
  drawn: ComputedRef<{ readonly from: number; readonly to: number } | null>
  draw: (from: number, to: number) => void
  clear: () => void
} {
  const route = useRoute()
  const router = useRouter()
  const drawn = computed(() => {
    const [from, to] = [Number(route.query['from']), Number(route.query['to'])]
    return from > 0 && to > from ? { from, to } : null
  })
  const range = computed({
    get: () => toRange(route.query['range']),
    set: (name) => go({ range: name === '1h' ? undefined : name })
  })
  /** What is not given goes: another range shows all of itself. */
  function go(query: Record<string, string | undefined>): void {
    const { from: _from, to: _to, range: _range, ...others } = route.query
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
    void router.push({ query: { ...others, ...given } })
  }
  const keptRange = (): string | undefined => (range.value === '1h' ? undefined : range.value)

  return {
    range,
    drawn,
    draw: (from, to) => go({ range: keptRange(), from: String(from), to: String(to) }),
    clear: () => go({ range: keptRange() })
  }
}
