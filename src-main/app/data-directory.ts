import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../kernel/index.ts'

const holder = z.object({ pid: z.int().positive(), host: z.string(), started: z.string() })
type Holder = z.infer<typeof holder>
const maxLockBytes = 4_096

/** One running app's hold on its folder. */
export interface DataDirectory {
  readonly path: string
  release(): void
}

/**
 * Makes the folder (0700) and takes it for this process. Throws FILE_UNAVAILABLE when it cannot be made, is shared with others, or another
 * Taskdeck uses it. A lock whose process is gone is taken over.
 */
export function takeDataDirectory(path: string, hostName: string): DataDirectory {
  try {
    makeFolder(path)
    makePrivate(path)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw unavailable(`The folder ${path} cannot be used: choose another one with --data.`, path, error)
  }
  const lock = join(path, 'lock.json')
  const mine = JSON.stringify({ pid: process.pid, host: hostName, started: startOf(process.pid) })
  for (let tries = 0; tries < 3; tries++) {
    if (tryCreate(lock, mine)) return { path, release: () => releaseLock(lock, mine) }
    const text = readLock(lock)
    if (text === undefined) continue
    const other = parseHolder(text)
    if (other && isAlive(other, hostName)) throw inUse(path, lock, other)
    removeStale(lock, text)
  }
  throw inUse(path, lock, undefined)
}

/** Step by step: on some file systems (such as /proc) Node's own recursive way never ends. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  mkdirSync(path, { mode: 0o700 })
}

/** One of these is there since a first start. */
const ourFiles = ['queue.sqlite', 'history.sqlite', 'settings.json', 'connections.json']

/** Nobody else may look into our files; nor may somebody else's folder be closed to its users. */
function makePrivate(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return
  const names = readdirSync(path)
  if (names.length > 0 && !names.some((name) => ourFiles.includes(name)))
    throw unavailable(
      `The folder ${path} is open to others and holds files that are not Taskdeck's: choose a new or an empty folder with --data.`,
      path
    )
  chmodSync(path, 0o700)
}

const unavailable = (message: string, path: string, cause?: unknown): AppError =>
  new AppError('FILE_UNAVAILABLE', 'user', message, { cause, details: { path } })

function inUse(path: string, lock: string, other: Holder | undefined): AppError {
  const who = other ? `process ${other.pid} on ${other.host}` : 'another process'
  return unavailable(
    `Taskdeck is already running with the folder ${path} (${who}). Use that one, stop it, or choose another folder with --data. If it is not running, delete ${lock}.`,
    path
  )
}

/** A hard link fails when the name exists, so that of two starting processes one wins, and nobody reads half a file. */
function tryCreate(lock: string, text: string): boolean {
  const draft = `${lock}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, text, { mode: 0o600 })
    linkSync(draft, lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw unavailable(`The file ${lock} cannot be written: check the folder's rights and free space.`, lock, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** undefined for one that is gone or is no file of ours: a pipe would be waited for. */
function readLock(lock: string): string | undefined {
  try {
    const found = statSync(lock)
    if (!found.isFile() || found.size > maxLockBytes) return undefined
    return readFileSync(lock, 'utf8')
  } catch {
    return undefined
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    return holder.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Another host's process cannot be asked: it counts as alive, and the message names the file. */
function isAlive(other: Holder, hostName: string): boolean {
  if (other.host !== hostName) return true
  try {
    process.kill(other.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return other.started === startOf(other.pid)
}

/** Tells a process from a later one with the same id. Empty where the system does not say. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** Moves it aside first: if someone else has replaced it in between, theirs is put back. */
function removeStale(lock: string, judged: string): void {
  const aside = `${lock}.${randomBytes(6).toString('hex')}`
  try {
    renameSync(lock, aside)
    if (readFileSync(aside, 'utf8') !== judged) linkSync(aside, lock)
  } catch {
    return // someone else was first; the next try sees what they left
  } finally {
    rmSync(aside, { force: true })
  }
}

function releaseLock(lock: string, mine: string): void {
  if (readLock(lock) === mine) rmSync(lock, { force: true })
}
