import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

/** The text of the file that a press makes the browser save, and its name. */
export async function downloaded(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  const text = await readFile(await download.path(), 'utf8')
  await download.delete()
  return { name: download.suggestedFilename(), text }
}
