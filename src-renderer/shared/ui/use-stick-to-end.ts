import { nextTick, onBeforeUnmount, onMounted, ref, watch, type Ref } from 'vue'

/** What a virtual list can do here. */
export interface EndScroller {
  scrollTo(options: { position: 'bottom' }): void
  /** Its element, whose size is followed. */
  readonly $el?: unknown
}

const nearEndPx = 30
const measuringFrames = 6

/**
 * Keeps a growing list at its end until the reader scrolls up, and again once they are back there. `content` changes when the list does.
 * Lines that turn out taller than expected, and a pane that changes its size, move the end, which is not the reader's doing: only an
 * upward move lets go.
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
  const observer = new ResizeObserver(() => goToEnd(measuringFrames))
  watch(
    list,
    (shown) => {
      observer.disconnect()
      if (shown?.$el instanceof Element) observer.observe(shown.$el)
    },
    { immediate: true, flush: 'post' }
  )
  onMounted(toEnd)
  onBeforeUnmount(() => observer.disconnect())

  return { atEnd, onScroll }
}
