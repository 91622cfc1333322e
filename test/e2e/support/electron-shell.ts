import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { builtFile, builtRoot, isRoot, newDataDir, shellEnvironment } from './build.ts'
import type { LaunchOptions } from './server-shell.ts'

/** The desktop shell: a real Electron on the built app. Needs a display. */
export interface ElectronShell {
  readonly kind: 'electron'
  readonly app: ElectronApplication
  readonly page: Page
  readonly dataDir: string
  /** Everything the main process wrote to stdout and stderr so far. */
  output(): string
  stop(): Promise<void>
}

const readyMs = 60_000

/**
 * No processor time for motion that nobody looks at (scenarios/day.ts turns it on again for some), and none withheld from a
 * window that another one covers: two files share one display.
 */
const switches = [
  '--disable-gpu',
  '--force-prefers-reduced-motion',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding'
]

export async function launchElectron(options: LaunchOptions = {}): Promise<ElectronShell> {
  const dist = process.env['ELECTRON_OVERRIDE_DIST_PATH']
  if (!dist) throw new Error('ELECTRON_OVERRIDE_DIST_PATH is not set: `npm test` provides an Electron')
  builtFile('out/main/index.js')
  const dataDir = options.dataDir ?? newDataDir()
  const app = await _electron.launch({
    executablePath: join(dist, 'electron'),
    args: [builtRoot, ...switches, '--data', dataDir, ...(options.demo ? ['--demo'] : [])],
    // As root Chromium's own sandbox cannot start; everybody else gets it.
    chromiumSandbox: !isRoot,
    cwd: builtRoot,
    env: shellEnvironment(options.env, false),
    timeout: readyMs
  })
  let output = ''
  for (const stream of [app.process().stdout, app.process().stderr])
    stream?.on('data', (chunk: Buffer) => (output += String(chunk)))
  const page = await app.firstWindow({ timeout: readyMs })
  await page.waitForLoadState('domcontentloaded')
  return {
    kind: 'electron',
    ...{ app, page, dataDir },
    output: () => output,
    async stop() {
      await app.close()
      if (options.dataDir === undefined) rmSync(dirname(dataDir), { recursive: true, force: true })
    }
  }
}
