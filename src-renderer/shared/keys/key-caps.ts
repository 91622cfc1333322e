/** Is this a Mac? Only for what keys are called. */
const isMac = /mac/i.test(navigator.userAgent)

const caps: Record<string, string> = { mod: isMac ? '⌘' : 'Ctrl', enter: '↵', up: '↑', down: '↓', esc: 'Esc' }

export const keyCap = (key: string): string => caps[key] ?? key

/** Ctrl, or ⌘ on a Mac. */
export const hasMod = (event: KeyboardEvent): boolean => (isMac ? event.metaKey : event.ctrlKey)

const takesNoLetters = ['radio', 'checkbox', 'button', 'submit', 'reset']

/** Letters belong to what is being typed, not to shortcuts. A radio button or checkbox takes only the arrows and the like. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && takesNoLetters.includes(target.type)) return event.key.length > 1
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}
