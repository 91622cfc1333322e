import { afterEach, describe, expect, it } from 'vitest'
import { isTyping } from './key-caps.ts'

function keyIn(html: string, key: string): KeyboardEvent {
  document.body.innerHTML = html
  const event = new KeyboardEvent('keydown', { key, bubbles: true })
  document.body.firstElementChild?.dispatchEvent(event)
  return event
}
afterEach(() => {
  document.body.innerHTML = ''
})

describe('a key is typed', () => {
  it.each(['<input>', '<input type="password">', '<textarea></textarea>'])('into %s, whichever it is', (html) => {
    expect(isTyping(keyIn(html, 'g'))).toBe(true)
    expect(isTyping(keyIn(html, 'ArrowDown'))).toBe(true)
  })

  it.each(['<input type="radio">', '<input type="checkbox">'])('into %s only when it means something there', (html) => {
    expect(isTyping(keyIn(html, 'ArrowDown'))).toBe(true)
    expect(isTyping(keyIn(html, 'g'))).toBe(false)
  })

  it('nowhere else', () => {
    expect(isTyping(keyIn('<button>Save</button>', 'g'))).toBe(false)
  })
})
