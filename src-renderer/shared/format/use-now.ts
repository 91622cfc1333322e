import { onScopeDispose, readonly, ref, type Ref } from 'vue'

/** The page's one clock for ages ("12 s old"): all readers share one timer, which stops with the last of them. */
const now = ref(Date.now())
let readers = 0
let timer: ReturnType<typeof setInterval> | undefined

export function useNow(): Readonly<Ref<number>> {
  now.value = Date.now()
  if (readers++ === 0) timer = setInterval(() => (now.value = Date.now()), 1000)
  onScopeDispose(() => {
    if (--readers === 0) clearInterval(timer)
  })
  return readonly(now)
}
