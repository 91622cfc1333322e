import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../kernel/index.ts'
import { UnusableFile } from './file-fault.ts'

/** A database and what SQLite may keep beside it. */
const suffixes = ['', '-wal', '-shm', '-journal']

/** SQLite would wait for ever for somebody to write into a pipe, so this comes before every open. Throws UnusableFile. */
export function checkParts(file: string, maxBytes: number): void {
  for (const part of partsOf(file)) {
    const found = statSync(part, { throwIfNoEntry: false })
    if (!found) continue
    if (!found.isFile()) throw new UnusableFile('irregular', `${basename(part)} is not a regular file`)
    if (found.size > maxBytes)
      throw new UnusableFile('irregular', `${basename(part)} has more than ${Math.floor(maxBytes / 1_048_576)} MiB`)
    if (part === file && found.size === 0) throw new UnusableFile('damaged', 'it is empty')
  }
}

/**
 * Takes the rights of everybody but the owner. SQLite gives what it makes beside a database the rights of that one. Another user's file
 * keeps its own: it cannot be written either.
 */
export function keepPrivate(file: string): void {
  for (const part of partsOf(file)) {
    const mode = statSync(part, { throwIfNoEntry: false })?.mode
    if (mode === undefined || (mode & 0o077) === 0) continue
    try {
      chmodSync(part, mode & 0o700)
    } catch {
      return
    }
  }
}

/** Renames the file and what is beside it to `NAME.damaged-TIME`, keeps the newest `kept` of these, and returns the new path. */
export function setAside(file: string, clock: Clock, kept: number): string {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, '')
  let target = `${file}.damaged-${stamp}`
  for (let n = 2; existsSync(target); n++) target = `${file}.damaged-${stamp}-${n}`
  renameSync(file, target)
  for (const suffix of suffixes.slice(1)) if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix)
  dropOldest(file, kept)
  return target
}

function dropOldest(file: string, kept: number): void {
  const dir = dirname(file)
  const aside = readdirSync(dir)
    .filter((name) => name.startsWith(`${basename(file)}.damaged-`) && !/-(wal|shm|journal)$/.test(name))
    .sort()
  for (const name of aside.slice(0, Math.max(0, aside.length - kept)))
    for (const part of partsOf(join(dir, name))) rmSync(part, { force: true })
}

const partsOf = (file: string): string[] => suffixes.map((suffix) => file + suffix)
