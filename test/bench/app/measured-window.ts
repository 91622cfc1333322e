import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { launchElectron } from '../../e2e/support/electron-shell.ts'
import { isRoot } from '../../e2e/support/build.ts'

/** All processes of one app together. */
export interface Usage {
  readonly memoryMb: number
  /** Of one core, over the time since the last look. */
  readonly cpuShare: number
}

export interface MeasuredWindow {
  /** From the launch of the process to what was waited for. */
  readonly paintedMs: number
  usage(): Promise<Usage>
  stop(): Promise<void>
}

const paintDeadlineMs = 60_000

/** An Electron window with nothing in it. */
export async function emptyWindow(): Promise<MeasuredWindow> {
  const began = performance.now()
  const app = await _electron.launch({
    executablePath: join(process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? '', 'electron'),
    args: [join(import.meta.dirname, 'empty-window.mjs'), '--disable-gpu'],
    chromiumSandbox: !isRoot,
    timeout: paintDeadlineMs
  })
  const page = await app.firstWindow({ timeout: paintDeadlineMs })
  await page.getByText('empty').waitFor({ timeout: paintDeadlineMs })
  return measured(app, await painted(page, began), () => app.close())
}

/** Ours, up to the Overview with its numbers and charts from the last picture. */
export async function overviewWindow(dataDir: string, demo: boolean): Promise<MeasuredWindow> {
  const began = performance.now()
  const shell = await launchElectron({ dataDir, demo })
  await shell.page.locator('canvas').first().waitFor({ timeout: paintDeadlineMs })
  return measured(shell.app, await painted(shell.page, began), () => shell.stop())
}

/** The second frame comes after what is there has been drawn. */
async function painted(page: Page, began: number): Promise<number> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  return performance.now() - began
}

function measured(app: ElectronApplication, paintedMs: number, stop: () => Promise<void>): MeasuredWindow {
  return {
    paintedMs,
    async usage() {
      const metrics = await app.evaluate((electron) => electron.app.getAppMetrics())
      return {
        memoryMb: metrics.reduce((sum, { memory }) => sum + memory.workingSetSize, 0) / 1_024,
        cpuShare: metrics.reduce((sum, { cpu }) => sum + cpu.percentCPUUsage, 0) / 100
      }
    },
    stop
  }
}
