import type { VueWrapper } from '@vue/test-utils'

/** What a label with this text names: the input that it is bound to, or the group that it is the name of. Throws when there is none. */
export function labelled(wrapper: VueWrapper, text: string): Element {
  const label = wrapper.findAll('label').find((one) => one.text() === text)?.element
  if (!label) throw new Error(`There is no label ${text}.`)
  const bound = label.htmlFor ? document.getElementById(label.htmlFor) : null
  if (bound?.matches('input, textarea, select')) return bound
  const named = label.id ? document.querySelector(`[role][aria-labelledby="${label.id}"]`) : null
  if (!named) throw new Error(`The label ${text} names nothing.`)
  return named
}
