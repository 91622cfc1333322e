import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Needs a built app, an X display and the runtimes that `scripts/test.mjs` provides. */
export default defineConfig({
  resolve: { alias: { '@contract': resolve(import.meta.dirname, 'src-main/contract/index.ts') } },
  test: {
    name: 'e2e',
    environment: 'node',
    include: ['test/e2e/**/*.e2e.ts'],
    globalSetup: ['test/support/global-mariadb.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // A spec waits for half of its time; more than two beside each other are slower on two cores.
    maxWorkers: 2
  }
})
