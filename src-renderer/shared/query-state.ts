import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'

/**
 * One value of a page's state, kept in the address, so that a view can be copied, saved and gone back to.
 * `decode` gets the text in the address or null; `encode` returns null for the default, which then is left out.
 */
export function useQueryState<T>(
  key: string,
  decode: (text: string | null) => T,
  encode: (value: T) => string | null
): WritableComputedRef<T> {
  const route = useRoute()
  const router = useRouter()
  return computed({
    get: () => {
      const value = route.query[key]
      return decode(typeof value === 'string' ? value : null)
    },
    set: (value) => void router.push({ query: withValue(route.query as LocationQueryRaw, key, encode(value)) })
  })
}

/** The query with one value set, or removed when it is null. */
export function withValue(query: LocationQueryRaw, key: string, value: string | null): LocationQueryRaw {
  const next = { ...query }
  if (value === null) delete next[key]
  else next[key] = value
  return next
}
