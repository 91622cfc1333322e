import type { Page } from 'playwright-core'
import { openInBrowser } from './browser.ts'
import { savedByBrowser, savedByElectron, type SavedFile } from './downloads.ts'
import { launchElectron } from './electron-shell.ts'
import { launchServer, type LaunchOptions } from './server-shell.ts'

export type ShellKind = 'electron' | 'server'
/** For specs that hold in both: `describe.each(shellKinds)`. */
export const shellKinds: readonly ShellKind[] = ['electron', 'server']

/** One page of the app, whatever shows it. */
export interface OpenShell {
  readonly kind: ShellKind
  readonly page: Page
  readonly dataDir: string
  /** What went wrong in the page: errors, and what the CSP blocked. A spec ends with it empty. */
  readonly problems: readonly string[]
  /** Saves the file that a press makes. */
  save(press: () => Promise<void>): Promise<SavedFile>
  stop(): Promise<void>
}

export async function openShell(kind: ShellKind, options: LaunchOptions = {}): Promise<OpenShell> {
  if (kind === 'electron') {
    const shell = await launchElectron(options)
    return {
      kind,
      page: shell.page,
      dataDir: shell.dataDir,
      problems: watch(shell.page),
      save: (press) => savedByElectron(shell.app, press),
      stop: () => shell.stop()
    }
  }
  const server = await launchServer(options)
  const { browser, page } = await openInBrowser(server)
  return {
    kind,
    page,
    dataDir: server.dataDir,
    problems: watch(page),
    save: (press) => savedByBrowser(page, press),
    async stop() {
      await browser.close()
      await server.stop()
    }
  }
}

function watch(page: Page): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url}`)
  })
  return problems
}
