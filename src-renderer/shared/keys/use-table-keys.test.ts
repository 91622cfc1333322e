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
  const closed: number[] = []
  const made: string[] = []
  const page = defineComponent(() => {
    useTableKeys({
      current,
      count: () => 3,
      open: (row) => opened.push(row),
      close: () => closed.push(current.value),
      letters: { n: () => made.push('n') }
    })
    return () => h('a', { href: '#/tasks' }, 'Tasks')
  })
  let unmount = (): void => undefined
  afterEach(() => {
    unmount()
    document.body.innerHTML = ''
    current.value = -1
    opened.length = 0
    closed.length = 0
    made.length = 0
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
    press('n')
    expect([current.value, made]).toEqual([-1, []])
  })

  it('work again while a dialog is on its way out', () => {
    openPage()
    document.body.insertAdjacentHTML('beforeend', '<div role="alertdialog" aria-modal="false"></div>')
    press('j')
    press('Escape')
    expect([current.value, closed]).toEqual([0, [0]])
  })

  it('leave the Esc that closes a dialog to the dialog', () => {
    openPage()
    document.body.insertAdjacentHTML('beforeend', '<div role="alertdialog" aria-modal="true"></div>')
    const closing = (): void => document.querySelector('[aria-modal]')?.setAttribute('aria-modal', 'false')
    document.addEventListener('keydown', closing, { once: true })
    press('Escape')
    expect(closed).toEqual([])
    press('Escape')
    expect(closed).toEqual([-1])
  })

  it('are joined by the letters of a page', () => {
    openPage()
    press('n')
    expect(made).toEqual(['n'])
  })
})
