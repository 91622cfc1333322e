import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { chromiumFile, isRoot } from './build.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the one Chromium of the run is reached; see openBrowser in browser.ts. */
    chromiumEndpoint: string
  }
}

/** Vitest global setup: one browser for the whole run, because starting it costs more than most scenarios in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({
    executablePath: chromiumFile,
    host: '127.0.0.1',
    args: ['--disable-gpu', ...(isRoot ? ['--no-sandbox'] : [])]
  })
  project.provide('chromiumEndpoint', server.wsEndpoint())
  return () => server.close()
}
