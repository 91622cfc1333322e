import { chromium, type Browser, type Page } from 'playwright-core'
import { inject } from 'vitest'
import type { ServerShell } from './server-shell.ts'

export interface BrowserPage {
  readonly browser: Browser
  readonly page: Page
}

/**
 * The run's Chromium with nothing of what others did in it: pages made here share no storage with anybody's. `close` ends
 * these pages, and the browser goes on.
 */
export const openBrowser = (): Promise<Browser> => chromium.connect(inject('chromiumEndpoint'))

/** A page on the address that the server printed. Without motion, as in electron-shell.ts. */
export async function openInBrowser(server: ServerShell): Promise<BrowserPage> {
  const browser = await openBrowser()
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 }, reducedMotion: 'reduce' })
  await page.goto(server.address)
  return { browser, page }
}
