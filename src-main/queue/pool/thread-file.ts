import { existsSync } from 'node:fs'
import { AppError } from '../../kernel/index.ts'

/*
 * The entry of a handler thread beside this module: the source under Node 24, the built file otherwise (this code may be
 * in the entry's folder or in a shared chunk below it). A list, so that bundlers leave the names alone.
 */
const candidates = ['./handler-thread.ts', './handler-thread.js', '../handler-thread.js']

/** Throws a bug when the build lacks the file. */
export function handlerThreadFile(): URL {
  const found = candidates.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url))
  if (!found) throw new AppError('BUG', 'bug', 'handler-thread is missing from the build')
  return found
}
