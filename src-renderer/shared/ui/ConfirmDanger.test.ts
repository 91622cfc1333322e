import { mount } from '@vue/test-utils'
import { nextTick } from 'vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/shared/i18n/i18n.ts'
import { isDialogOpen } from '@/shared/keys/open-dialog.ts'
import ConfirmDanger from './ConfirmDanger.vue'

describe('asking before something that cannot be undone', () => {
  let unmount: () => void
  afterEach(() => unmount())

  it('lets the name be typed: the focus stays in its field', async () => {
    const wrapper = mount(ConfirmDanger, {
      attachTo: document.body,
      props: { show: false, title: 'Allow writing?', text: '', action: 'Allow', typed: 'orders' },
      // A stub in the modal's place would hide its content from the focus trap.
      global: { plugins: [i18n], stubs: { transition: false } }
    })
    unmount = () => wrapper.unmount()
    await wrapper.setProps({ show: true })
    await nextTick()
    const field = document.querySelector<HTMLInputElement>('[role=alertdialog] input')!
    field.focus()
    expect(document.activeElement).toBe(field)
  })

  it('gives the keys back to the page as soon as it is closed, although it is still on its way out', async () => {
    const wrapper = mount(ConfirmDanger, {
      attachTo: document.body,
      props: { show: true, title: 'Cancel it?', text: '', action: 'Cancel' },
      global: { plugins: [i18n], stubs: { transition: false } }
    })
    unmount = () => wrapper.unmount()
    await nextTick()
    expect(isDialogOpen()).toBe(true)
    await wrapper.setProps({ show: false })
    expect(document.querySelector('[role=alertdialog]')).not.toBeNull()
    expect(isDialogOpen()).toBe(false)
  })
})
