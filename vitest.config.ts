import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const alias = {
  '@contract': resolve(import.meta.dirname, 'src-main/contract/index.ts'),
  '@': resolve(import.meta.dirname, 'src-renderer')
}

/*
 * Worker processes and handler threads that tests start, and the tests' own processes, run our TypeScript directly: compiled once
 * for the whole run, a start costs half. It also keeps Node's type stripper, which is WebAssembly, out of threads that are ended by force:
 * V8 now and then ends the process when such threads come and go ("Check failed: jit_page.has_value()"). Node makes the folder, and
 * does without when it cannot write there.
 */
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/compiled')

/** The longest files first: begun last, one would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      /(faults\/matrix|pool-process|alerts-causes|conformance\/mysql|integration\/(pool|app))\.test\.ts$/.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'main',
          environment: 'node',
          include: ['src-main/**/*.test.ts', 'test/support/**/*.test.ts'],
          testTimeout: 30_000, // none is about time; beside the linter a core is slow
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
          testTimeout: 30_000,
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
          // A file waits for more than a third of its time: three keep two cores busy.
          maxWorkers: 3,
          isolate: false // as above; each file has a database of its own
        }
      }
    ]
  }
})
