import { onBeforeUnmount, onMounted, type Ref } from 'vue'
import { isTyping } from './key-caps.ts'
import { isDialogOpen } from './open-dialog.ts'

/**
 * j/k (and the arrows) move `current` through `count()` rows, Enter opens it, Esc closes, and a page may have letters of its own.
 * -1 is no row. Keys that are typed into a field, or meant for a floating dialog, are left alone.
 */
export function useTableKeys(table: {
  current: Ref<number>
  count: () => number
  open: (row: number) => void
  close?: () => void
  letters?: Readonly<Record<string, () => void>>
}): void {
  const moves: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

  /** Whether a dialog was there when the key went down: the Esc that closes it must not close something below it too. */
  let wasDialogs = false

  function onKeyStart(): void {
    wasDialogs = isDialogOpen()
  }
  function onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
    if (wasDialogs || isDialogOpen()) return
    const letter = table.letters?.[event.key]
    const move = moves[event.key]
    if (move !== undefined && table.count() > 0) {
      table.current.value = Math.min(table.count() - 1, Math.max(0, table.current.value + move))
      leaveFocus()
    } else if (event.key === 'Enter' && table.current.value >= 0 && isPlainTarget(event)) {
      table.open(table.current.value)
    } else if (event.key === 'Escape' && table.close) {
      table.close()
    } else if (letter) letter()
    else return
    event.preventDefault()
  }

  onMounted(() => {
    window.addEventListener('keydown', onKeyStart, { capture: true })
    window.addEventListener('keydown', onKey)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('keydown', onKeyStart, { capture: true })
    window.removeEventListener('keydown', onKey)
  })
}

/** The link or button that was pressed last keeps the focus, and Enter would be its; who walks through rows means these. */
function leaveFocus(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

/** Enter on a focused button or link is that button's. */
function isPlainTarget(event: KeyboardEvent): boolean {
  return !(event.target instanceof HTMLElement && event.target.closest('a, button, [role=button]'))
}
