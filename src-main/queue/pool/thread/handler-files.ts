import * as zod from 'zod'
import * as api from '../handler.ts'
import { isHandler, type Handler } from '../handler.ts'

/**
 * Loads a user's handler file, JavaScript or TypeScript, in this thread. `taskdeck` and `zod` are given by us: a folder
 * of handlers needs no node_modules of its own. A changed file gets a new thread; what jiti made of a file is kept in
 * `cacheDir` under the hash of its content, so that only the first thread pays for the compiler.
 */
export function openHandlerFiles(cacheDir: string): (file: string) => Promise<Handler[]> {
  let opened: Promise<{ import(file: string): Promise<unknown> }> | undefined
  return async (file) => {
    opened ??= openJiti(cacheDir)
    const exported = await (await opened).import(file)
    if (typeof exported !== 'object' || exported === null) return []
    return [...new Set(Object.values(exported).flat())].filter(isHandler)
  }
}

/** Loaded with the first file: most threads of a worker without a folder never need it. */
async function openJiti(cacheDir: string) {
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, {
    fsCache: cacheDir,
    moduleCache: true,
    interopDefault: false,
    virtualModules: { taskdeck: api, zod: zod }
  })
}
