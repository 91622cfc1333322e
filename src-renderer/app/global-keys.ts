import { onBeforeUnmount, onMounted } from 'vue'
import { hasMod, isTyping } from '@/shared/keys/key-caps.ts'
import { isDialogOpen } from '@/shared/keys/open-dialog.ts'

const secondLetterMs = 1_200

/** Keys that work on every page: the palette, the list of shortcuts, settings, and `g` with a letter. */
export function useGlobalKeys(keys: {
  palette: () => void
  shortcuts: () => void
  settings: () => void
  goTo: (letter: string) => boolean
}): void {
  let goPressedAt = Number.NEGATIVE_INFINITY

  function handled(event: KeyboardEvent): boolean {
    if (hasMod(event) && event.key.toLowerCase() === 'k') return run(keys.palette)
    if (hasMod(event) && event.key === ',') return run(keys.settings)
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return false
    if (isDialogOpen()) return false
    if (event.key === '?') return run(keys.shortcuts)
    if (event.timeStamp - goPressedAt < secondLetterMs) {
      goPressedAt = Number.NEGATIVE_INFINITY
      return keys.goTo(event.key.toLowerCase())
    }
    if (event.key === 'g') goPressedAt = event.timeStamp
    return false
  }

  function onKey(event: KeyboardEvent): void {
    if (!event.defaultPrevented && handled(event)) {
      event.preventDefault()
      event.stopImmediatePropagation()
    }
  }

  // Before the page's own keys, so that the letter after `g` is not taken for one of them.
  onMounted(() => window.addEventListener('keydown', onKey, { capture: true }))
  onBeforeUnmount(() => window.removeEventListener('keydown', onKey, { capture: true }))
}

function run(action: () => void): true {
  action()
  return true
}
