import { chmod, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { AppError, type Clock } from '../kernel/index.ts'

/** Only the user may read what the app stores. Without effect on Windows, where the profile folder's rights do that. */
const ownerOnly = 0o600

export interface ReadOutcome<T> {
  /** null when there is no usable file. */
  readonly content: T | null
  /** Why a file that exists was not used. */
  readonly problem: AppError | null
  /** False when the file is there and cannot be read or moved aside: writing would destroy it. */
  readonly writable: boolean
}

/**
 * Reads a JSON file of ours. One that does not fit the schema is renamed to `NAME.damaged-TIME` and reported, never
 * overwritten. Never throws.
 */
export async function readPrivateFile<T>(file: string, schema: z.ZodType<T>, clock: Clock): Promise<ReadOutcome<T>> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return { content: null, problem: null, writable: true }
    return { content: null, problem: unreadable(file, cause), writable: false }
  }
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return { content: parsed.data, problem: null, writable: true }
  const aside = `${file}.damaged-${clock.now()}`
  try {
    await rename(file, aside)
    return { content: null, problem: damaged(file, aside), writable: true }
  } catch (cause) {
    return { content: null, problem: unreadable(file, cause), writable: false }
  }
}

/**
 * Replaces the file as a whole: a crash at any moment leaves the old or the new content. Mode 0600.
 * Throws DISK_FULL or FILE_UNAVAILABLE; the old file is then unchanged.
 */
export async function writePrivateFile(file: string, content: unknown): Promise<void> {
  const draft = `${file}.draft`
  try {
    const handle = await open(draft, 'w', ownerOnly)
    try {
      await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // A draft left by a crash keeps its own mode when it is opened again.
    await chmod(draft, ownerOnly)
    await rename(draft, file)
    await syncFolder(dirname(file))
  } catch (cause) {
    await unlink(draft).catch(() => undefined)
    throw unwritable(file, cause)
  }
}

/** The rename itself is durable only after this. Windows cannot open a folder and needs no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorCode(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

const damaged = (file: string, aside: string): AppError =>
  new AppError(
    'FILE_UNAVAILABLE',
    'operational',
    'A file of the app was damaged; it was set aside and a new one begun.',
    {
      details: { file, aside }
    }
  )

const unreadable = (file: string, cause: unknown): AppError =>
  new AppError('FILE_UNAVAILABLE', 'operational', 'A file of the app cannot be read: check its permissions.', {
    cause,
    details: { file, reason: errorCode(cause) }
  })

function unwritable(file: string, cause: unknown): AppError {
  const reason = errorCode(cause)
  if (reason === 'ENOSPC' || reason === 'EDQUOT') {
    return new AppError('DISK_FULL', 'operational', 'There is no disk space left to store this.', {
      cause,
      details: { file }
    })
  }
  return new AppError(
    'FILE_UNAVAILABLE',
    'operational',
    'A file of the app cannot be written: check its permissions.',
    {
      cause,
      details: { file, reason }
    }
  )
}
