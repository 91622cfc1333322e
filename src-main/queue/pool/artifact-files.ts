import { join, parse } from 'node:path'

/** A name that is safe on every file system and as a download: no path, no control character, no reserved name. */
export function safeFileName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .normalize('NFC')
    // eslint reads \x00 in a class as a mistake; \p{Cc} are the control characters.
    .replace(/[\p{Cc}\p{Cf}<>:"/\\|?*]/gu, '_')
    .replace(/^[. ]+|[. ]+$/g, '')
  const short = [...cleaned].slice(0, 80).join('')
  if (short === '') return 'file'
  return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(short) ? `_${short}` : short
}

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
