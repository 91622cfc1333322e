import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ElectronApplication, Page } from 'playwright-core'

/** A file that a page has made and the shell has saved. */
export interface SavedFile {
  readonly name: string
  readonly text: string
  readonly bytes: Uint8Array
}

const savedFile = (name: string, bytes: Buffer): SavedFile => ({ name, bytes, text: bytes.toString('utf8') })

/** What a press makes the browser save. */
export async function savedByBrowser(page: Page, press: () => Promise<void>): Promise<SavedFile> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  const saved = savedFile(download.suggestedFilename(), await buffer(await download.createReadStream()))
  await download.delete()
  return saved
}

/** What a press makes Electron save. Its dialog is nobody's to answer here, so the place is given beforehand. */
export async function savedByElectron(app: ElectronApplication, press: () => Promise<void>): Promise<SavedFile> {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-download-'))
  try {
    const listening = await app.evaluateHandle(({ session }, into) => {
      const saved = new Promise<{ path: string; state: string }>((resolve) => {
        session.defaultSession.once('will-download', (_event, item) => {
          const path = `${into}/${item.getFilename()}`
          item.setSavePath(path)
          item.once('done', (_done, state) => resolve({ path, state }))
        })
      })
      return { saved }
    }, folder)
    await press()
    const { path, state } = await listening.evaluate(({ saved }) => saved)
    if (state !== 'completed') throw new Error(`the download was ${state}`)
    return savedFile(basename(path), readFileSync(path))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
