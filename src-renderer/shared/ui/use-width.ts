import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

/** Width of an element in px as it changes; `assumed` until it is measured. */
export function useWidth(element: Readonly<Ref<Element | null>>, assumed: number): Ref<number> {
  const width = ref(assumed)
  const observer = new ResizeObserver(([entry]) => {
    width.value = entry?.contentRect.width ?? width.value
  })
  onMounted(() => element.value && observer.observe(element.value))
  onBeforeUnmount(() => observer.disconnect())
  return width
}
