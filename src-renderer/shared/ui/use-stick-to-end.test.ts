import { mount, flushPromises } from '@vue/test-utils'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, shallowRef } from 'vue'
import { useStickToEnd } from './use-stick-to-end.ts'

/** Says that what is observed has another size. */
const resizes = new Map<Element, () => void>()
vi.stubGlobal(
  'ResizeObserver',
  class {
    private readonly told: () => void
    constructor(told: () => void) {
      this.told = told
    }
    observe(element: Element): void {
      resizes.set(element, this.told)
    }
    disconnect(): void {
      for (const [element, told] of resizes) if (told === this.told) resizes.delete(element)
    }
  }
)
afterAll(() => vi.unstubAllGlobals())

function setUp() {
  const lines = shallowRef(0)
  let scrolled = 0
  const pane = document.createElement('div')
  const list = shallowRef({ scrollTo: () => void scrolled++, $el: pane })
  let stick: ReturnType<typeof useStickToEnd> | undefined
  const wrapper = mount(
    defineComponent(() => {
      stick = useStickToEnd(list, () => lines.value)
      return () => h('div')
    })
  )
  const box = document.createElement('div')
  const at = (scrollTop: number, scrollHeight: number): void => {
    for (const [name, value] of Object.entries({ scrollTop, scrollHeight, clientHeight: 100 }))
      Object.defineProperty(box, name, { value, configurable: true })
    stick!.onScroll({ target: box } as unknown as Event)
  }
  const grow = async (): Promise<number> => {
    const before = scrolled
    lines.value++
    await flushPromises()
    return scrolled - before
  }
  const resize = (): number => {
    const before = scrolled
    resizes.get(pane)?.()
    return scrolled - before
  }
  return { stick: stick!, at, grow, resize, pane, wrapper }
}

describe('a list that follows its end', () => {
  it('goes along with new lines', async () => {
    const { grow, wrapper } = setUp()
    expect(await grow()).toBeGreaterThan(0)
    wrapper.unmount()
  })

  it('is let go by a move up, and taken again at the end', async () => {
    const { stick, at, grow, wrapper } = setUp()
    at(900, 1_000)
    at(400, 1_000)
    expect(stick.atEnd.value).toBe(false)
    await flushPromises()
    expect(await grow()).toBe(0)
    at(890, 1_000)
    expect(stick.atEnd.value).toBe(true)
    wrapper.unmount()
  })

  it('goes along when its pane changes its size, and not while the reader is further up', async () => {
    const { at, resize, pane, wrapper } = setUp()
    await flushPromises()
    expect(resize()).toBeGreaterThan(0)
    at(900, 1_000)
    at(400, 1_000)
    expect(resize()).toBe(0)
    wrapper.unmount()
    expect(resizes.has(pane)).toBe(false)
  })

  it('is not let go when its lines turn out taller', () => {
    const { stick, at, wrapper } = setUp()
    at(900, 1_000)
    at(900, 1_400)
    expect(stick.atEnd.value).toBe(true)
    wrapper.unmount()
  })
})
