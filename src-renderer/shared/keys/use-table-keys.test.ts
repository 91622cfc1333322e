import { mount } from '@vue/test-utils'
import { defineComponent, h, ref } from 'vue'
import { afterEach, describe, expect, it } from 'vitest'
import { useTableKeys } from './use-table-keys.ts'

const press = (key: string): void => {
  ;(document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  )
}

describe('the keys of a table', () => {
  const current = ref(-1)
  const opened: number[] = []
  const page = defineComponent(() => {
    useTableKeys({ current, count: () => 3, open: (row) => opened.push(row) })
    return () => h('a', { href: '#/tasks' }, 'Tasks')
  })
  let unmount = (): void => undefined
  afterEach(() => {
    unmount()
    document.body.innerHTML = ''
    current.value = -1
    opened.length = 0
  })
  function openPage(): HTMLElement {
    const wrapper = mount(page, { attachTo: document.body })
    unmount = () => wrapper.unmount()
    return wrapper.element as HTMLElement
  }

  it('open the row that was walked to, although the link to the page still has the focus', () => {
    openPage().focus()
    press('j')
    press('j')
    press('Enter')
    expect(opened).toEqual([1])
  })

  it('leave Enter to a link that was gone to after the walk', () => {
    const link = openPage()
    press('j')
    link.focus()
    press('Enter')
    expect(opened).toEqual([])
  })

  it('rest while a dialog of any kind is open', () => {
    openPage()
    document.body.insertAdjacentHTML('beforeend', '<div role="alertdialog" aria-modal="true"></div>')
    press('j')
    expect(current.value).toBe(-1)
  })
})
