import { mount, flushPromises } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { defineComponent, h, shallowRef } from 'vue'
import { useStickToEnd } from './use-stick-to-end.ts'

function setUp() {
  const lines = shallowRef(0)
  let scrolled = 0
  const list = shallowRef({ scrollTo: () => void scrolled++ })
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
  return { stick: stick!, at, grow, wrapper }
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

  it('is not let go when its lines turn out taller', () => {
    const { stick, at, wrapper } = setUp()
    at(900, 1_000)
    at(900, 1_400)
    expect(stick.atEnd.value).toBe(true)
    wrapper.unmount()
  })
})
