import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const alias = {
  '@contract': resolve(import.meta.dirname, 'src-main/contract/index.ts'),
  '@': resolve(import.meta.dirname, 'src-renderer')
}

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'main',
          environment: 'node',
          include: ['src-main/**/*.test.ts', 'test/support/**/*.test.ts'],
          isolate: false // a third of the processor time: a process for each file costs more than its tests
        }
      },
      {
        plugins: [vue()],
        resolve: { alias },
        test: {
          name: 'renderer',
          environment: 'happy-dom',
          include: ['src-renderer/**/*.test.ts'],
          isolate: false
        }
      },
      {
        // Real MariaDB, started once for the run (test/support/global-mariadb.ts).
        resolve: { alias },
        test: {
          name: 'databases',
          environment: 'node',
          include: ['test/conformance/**/*.test.ts', 'test/integration/**/*.test.ts', 'test/faults/**/*.test.ts'],
          globalSetup: ['test/support/global-mariadb.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Two cores shared with a database: files beside each other make each other's timing worse.
          fileParallelism: false
        }
      }
    ]
  }
})
