import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Server shells that tests start compile their code once for the whole run.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/compiled')

const longest = ['day-electron', 'day-server', 'outage', 'first-start']

/** The longest files first: begun last, one would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const named = (name: string) => sorted.filter(({ moduleId }) => moduleId.endsWith(`/${name}.e2e.ts`))
    return [...new Set([...longest.flatMap(named), ...sorted])]
  }
}

/** Needs a built app, an X display and the runtimes that `scripts/test.mjs` provides. */
export default defineConfig({
  resolve: { alias: { '@contract': resolve(import.meta.dirname, 'src-main/contract/index.ts') } },
  test: {
    name: 'e2e',
    environment: 'node',
    include: ['test/e2e/**/*.e2e.ts'],
    globalSetup: ['test/support/global-mariadb.ts', 'test/e2e/support/global-chromium.ts'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 90_000,
    hookTimeout: 90_000,
    isolate: false, // a process for each file would read Playwright and the contract again
    maxWorkers: 3 // a spec waits for a third of its time
  }
})
