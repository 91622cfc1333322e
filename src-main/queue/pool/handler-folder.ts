import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

export interface HandlerFolder {
  /** Absolute paths of the handler files, by name: those in the folder itself. */
  readonly files: readonly string[]
  /** Named like handler files, yet no regular ones: reading a pipe or a device may never end. */
  readonly irregular: readonly string[]
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
  const found = await Promise.all(
    paths.map(async (path) => {
      // A file may vanish in between: then the next look sees another signature.
      const facts = await stat(path).catch(() => undefined)
      return { path, isRegular: facts?.isFile() ?? true, sign: `${path}\0${facts?.mtimeMs}\0${facts?.size}` }
    })
  )
  const own = found.filter(({ path }) => isHandlerFile(relative(dir, path)) && !relative(dir, path).includes(sep))
  const pathsOf = (isRegular: boolean): string[] =>
    own.filter((one) => one.isRegular === isRegular).map(({ path }) => path)
  return { files: pathsOf(true), irregular: pathsOf(false), signature: found.map(({ sign }) => sign).join('\n') }
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
