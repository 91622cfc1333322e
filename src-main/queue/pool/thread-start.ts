import type { HandlerCatalogReading } from './handler-catalog.ts'
import type { ThreadStart } from './handler-thread-link.ts'
import type { WorkerOptions } from './worker-options.ts'

export interface ThreadStartParts {
  readonly options: Required<WorkerOptions>
  readonly reading: HandlerCatalogReading
  readonly cacheDir: string
}

/** How threads start that run the handlers of this reading. */
export function threadStart({ options, reading, cacheDir }: ThreadStartParts): ThreadStart {
  const { handlers, artifactDir, threadMemoryMb } = options
  const own = reading.handlers.flatMap(({ type, file }) => (file === null ? [] : [[type, file] as const]))
  const fileOfType = Object.fromEntries(own)
  return {
    memoryMb: threadMemoryMb,
    config: {
      ...{ mode: 'run', builtIn: handlers.builtIn, files: [], fileOfType, artifactDir, cacheDir },
      errorRules: [...reading.errorRules]
    }
  }
}
