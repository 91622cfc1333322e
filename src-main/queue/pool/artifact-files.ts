import { join, parse } from 'node:path'
import { fileNameBytes } from '../../kernel/index.ts'

/** Bytes of UTF-8: leaves room for the number that `freeFileName` adds. */
export const keptNameBytes = fileNameBytes - 20

/** `name`, or with a number before its ending when `taken` has it: also in other letter case, which some file systems ignore. */
export function freeFileName(name: string, taken: ReadonlySet<string>): string {
  const { name: stem, ext } = parse(name)
  let free = name
  for (let number = 2; taken.has(sameFile(free)); number++) free = `${stem} (${number})${ext}`
  return free
}

/** What a file system that ignores letter case goes by. */
export const sameFile = (name: string): string => name.toLowerCase()

/** Where an attempt's file is kept. Worker and thread compute it alike, so the thread cannot name another path. */
export function artifactPath(artifactDir: string, taskId: string, attempt: number, safeName: string): string {
  return join(artifactDir, taskId, String(attempt), safeName)
}
