import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

export interface HandlerFolder {
  /** Absolute paths of the handler files, by name: those in the folder itself. */
  readonly files: readonly string[]
  /** Changes when any file of the folder or its subfolders does. */
  readonly signature: string
}

const handlerFile = /^[^._].*\.(?:[cm]?[jt]s)$/
const notHandlers = /\.(?:d|test|spec)\.[cm]?[jt]s$/
/** Files looked at for changes; a folder with more is no handler folder. */
const maxFiles = 2_000

/** Throws what the file system throws. */
export async function readHandlerFolder(dir: string): Promise<HandlerFolder> {
  const paths = await listFiles(dir)
  const facts = await Promise.all(
    paths.map(async (path) => {
      // A file may vanish in between: then the next look sees another signature.
      const found = await stat(path).catch(() => undefined)
      return `${path}\0${found?.mtimeMs}\0${found?.size}`
    })
  )
  const own = paths.filter((path) => !relative(dir, path).includes(sep))
  const files = own.filter((path) => isHandlerFile(relative(dir, path)))
  return { files, signature: facts.join('\n') }
}

export const isHandlerFile = (name: string): boolean => handlerFile.test(name) && !notHandlers.test(name)

async function listFiles(dir: string): Promise<string[]> {
  const found: string[] = []
  const folders = [dir]
  for (let folder = folders.shift(); folder !== undefined && found.length < maxFiles; folder = folders.shift()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue
      if (entry.isDirectory()) folders.push(join(folder, entry.name))
      else found.push(join(folder, entry.name))
    }
  }
  return found.sort().slice(0, maxFiles)
}
