import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { BrowserWindow, Rectangle } from 'electron'
import { z } from 'zod'

const windowState = z.object({
  x: z.int(),
  y: z.int(),
  width: z.int().min(480).max(10_000),
  height: z.int().min(320).max(10_000),
  maximized: z.boolean()
})
export type WindowState = z.infer<typeof windowState>

/** Enough of the window to grab it with the mouse. */
const visiblePixels = 80
const maxBytes = 4_096

/** Where the window was; undefined when it is not known or would open where no display is (any more). */
export function readWindowState(file: string, displays: readonly Rectangle[]): WindowState | undefined {
  try {
    const found = statSync(file)
    if (!found.isFile() || found.size > maxBytes) return undefined // a pipe would be waited for
    const state = windowState.parse(JSON.parse(readFileSync(file, 'utf8')))
    return displays.some((area) => overlaps(state, area)) ? state : undefined
  } catch {
    return undefined
  }
}

function overlaps(state: Rectangle, area: Rectangle): boolean {
  const wide = Math.min(state.x + state.width, area.x + area.width) - Math.max(state.x, area.x)
  const high = Math.min(state.y + state.height, area.y + area.height) - Math.max(state.y, area.y)
  return wide >= visiblePixels && high >= visiblePixels
}

/** Keeps it when the window closes. Losing it is no failure. */
export function keepWindowState(window: BrowserWindow, file: string): void {
  window.on('close', () => {
    const state: WindowState = { ...window.getNormalBounds(), maximized: window.isMaximized() }
    try {
      writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch {
      return
    }
  })
}
