import { open } from 'node:fs/promises'
import { constants } from 'node:fs'

/** The newest of the window; a log that grows by the second says the same again and again. */
export const mostLogEntries = 2_000
/** Of one file; the app begins a new one at a MiB. */
const mostFileBytes = 2 * 1_048_576

export interface LogWindow {
  /** By the app's clock, milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  /** Entries about others than this one are left out. */
  readonly connectionId: string
}

/** Entries of the app's log in a window, oldest first; an entry may have several lines. Never throws: no log is an empty one. */
export async function logWindow(file: string, window: LogWindow): Promise<string[]> {
  const texts = await Promise.all([`${file}.1`, file].map((name) => readRegular(name).catch(() => '')))
  return texts
    .flatMap((text) => text.split(/\n(?! )/))
    .filter((entry) => isIn(entry, window))
    .slice(-mostLogEntries)
}

function isIn(entry: string, { from, to, connectionId }: LogWindow): boolean {
  const at = Date.parse(entry.slice(0, entry.indexOf(' ')))
  if (!(at >= from && at <= to)) return false
  const about = /^\S+ \w+ connection ([a-z0-9-]{1,64}): /.exec(entry)?.[1]
  return about === undefined || about === connectionId
}

/** A pipe would be waited for until somebody writes into it. */
async function readRegular(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.min(size, mostFileBytes))
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, Math.max(0, size - mostFileBytes))
    return bytes.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
