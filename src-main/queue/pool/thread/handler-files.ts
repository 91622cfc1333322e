import { createJiti } from 'jiti'
import * as zod from 'zod'
import * as api from '../handler.ts'
import { isHandler, type Handler } from '../handler.ts'

/**
 * Loads a user's handler file, JavaScript or TypeScript, in this thread. `taskdeck` and `zod` are given by us: a folder
 * of handlers needs no node_modules of its own. Nothing is cached on disk; a changed file gets a new thread.
 */
export function openHandlerFiles(): (file: string) => Promise<Handler[]> {
  const jiti = createJiti(import.meta.url, {
    fsCache: false,
    moduleCache: true,
    interopDefault: false,
    virtualModules: { taskdeck: api, zod: zod }
  })
  return async (file) => {
    const exported = await jiti.import<Record<string, unknown>>(file)
    return [...new Set(Object.values(exported).flat())].filter(isHandler)
  }
}
