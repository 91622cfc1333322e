/** Is this a Mac? Only for what keys are called. */
export const isMac = /mac/i.test(navigator.userAgent)

const caps: Record<string, string> = { mod: isMac ? '⌘' : 'Ctrl', enter: '↵', up: '↑', down: '↓', esc: 'Esc' }

export const keyCap = (key: string): string => caps[key] ?? key

/** Ctrl, or ⌘ on a Mac. */
export const hasMod = (event: KeyboardEvent): boolean => (isMac ? event.metaKey : event.ctrlKey)

/** Letters belong to what is being typed, not to shortcuts. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}
