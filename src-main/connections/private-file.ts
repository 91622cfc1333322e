import { constants } from 'node:fs'
import { open, rename, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { AppError, type Clock } from '../kernel/index.ts'

/** Only the user may read what the app stores. Without effect on Windows, where the profile folder's rights do that. */
const ownerOnly = 0o600

/** Far more than the app ever writes (50 connections with a certificate each have 4 MiB). */
const maxBytes = 16 * 1_048_576

/** A pipe without this would be waited for until somebody writes into it. Windows knows neither. */
const withoutWaiting = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

export interface ReadOutcome<T> {
  /** null when there is no usable file. */
  readonly content: T | null
  /** Why a file that exists was not used. */
  readonly problem: AppError | null
  /** False when the file is there and cannot be read or moved aside, or is none of ours: writing would destroy it. */
  readonly writable: boolean
}

/**
 * Reads a JSON file of ours. One that does not fit the schema is renamed to `NAME.damaged-TIME` and reported, never
 * overwritten. Never throws.
 */
export async function readPrivateFile<T>(file: string, schema: z.ZodType<T>, clock: Clock): Promise<ReadOutcome<T>> {
  let text: string
  try {
    text = await readText(file)
  } catch (cause) {
    if (cause instanceof AppError) return { content: null, problem: cause, writable: false }
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
 * The same for one who must change nothing, such as a command beside the app: null where there is no file. Throws FILE_UNAVAILABLE for one
 * that cannot be read or does not fit the schema; it stays as it is.
 */
export async function peekPrivateFile<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  let text: string
  try {
    text = await readText(file)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    if (errorCode(cause) === 'ENOENT') return null
    throw unreadable(file, cause)
  }
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw notOurs(file, 'it is damaged, or of another version')
}

/** Throws FILE_UNAVAILABLE for what cannot be a file of ours, else the system's error. */
async function readText(file: string): Promise<string> {
  const handle = await open(file, withoutWaiting)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw notOurs(file, 'it is not a regular file')
    if (found.size > maxBytes) throw notOurs(file, `it has more than ${maxBytes / 1_048_576} MiB`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/**
 * Replaces the file as a whole: a crash at any moment leaves the old or the new content. Mode 0600.
 * Throws DISK_FULL or FILE_UNAVAILABLE; the old file is then unchanged.
 */
export async function writePrivateFile(file: string, content: unknown): Promise<void> {
  const draft = `${file}.draft`
  try {
    // What a crash left has its own mode, and may be anything.
    await rm(draft, { force: true })
    const handle = await open(draft, 'wx', ownerOnly)
    try {
      await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
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

const notOurs = (file: string, reason: string): AppError =>
  new AppError('FILE_UNAVAILABLE', 'operational', `${file} cannot be used: ${reason}. Move it away and start again.`, {
    details: { file, reason }
  })

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
