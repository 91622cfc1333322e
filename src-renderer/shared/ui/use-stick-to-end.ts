import { nextTick, onMounted, ref, watch, type Ref } from 'vue'

/** What a virtual list can do here. */
export interface EndScroller {
  scrollTo(options: { position: 'bottom' }): void
}

const nearEndPx = 30
const measuringFrames = 6

/**
 * Keeps a growing list at its end until the reader scrolls up, and again once they are back there. `content` changes when the list does.
 * Lines that turn out taller than expected move the end, which is not the reader's doing: only an upward move lets go.
 */
export function useStickToEnd(
  list: Readonly<Ref<EndScroller | null>>,
  content: () => unknown
): { readonly atEnd: Ref<boolean>; readonly onScroll: (event: Event) => void } {
  const atEnd = ref(true)
  let lastTop = 0

  function onScroll(event: Event): void {
    if (!(event.target instanceof HTMLElement)) return
    const { scrollTop, scrollHeight, clientHeight } = event.target
    if (scrollHeight - scrollTop - clientHeight < nearEndPx) atEnd.value = true
    else if (scrollTop < lastTop) atEnd.value = false
    lastTop = scrollTop
  }

  /** Again for a few frames: lines are measured as they come into view, and each may move the end. */
  function goToEnd(frames: number): void {
    if (!atEnd.value) return
    list.value?.scrollTo({ position: 'bottom' })
    if (frames > 0) requestAnimationFrame(() => goToEnd(frames - 1))
  }
  const toEnd = (): Promise<void> => nextTick(() => goToEnd(measuringFrames))

  watch(content, () => {
    if (atEnd.value) void toEnd()
  })
  onMounted(toEnd)

  return { atEnd, onScroll }
}
