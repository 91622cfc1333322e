import { appendFileSync, chmodSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { AppError, type Clock, type MaskText } from '../kernel/index.ts'
import { printable } from './printable.ts'

export type AppLogLevel = 'info' | 'warn' | 'error'

/**
 * The app's log. Everything that is written goes through `redact`; values of secrets are made known with `hide` as soon as they enter the process.
 */
export interface AppLog {
  write(level: AppLogLevel, message: string): void
  /** Logs an error that is our fault, with its stack and causes. Returns the reference under which it stands. */
  bug(error: unknown): string
  /** Never shown or written again in clear. */
  hide(secret: string): void
  /** From now on texts go through this too: it knows what the user wants hidden. */
  maskWith(mask: MaskText): void
  redact(text: string): string
}

/** One file and its predecessor: at most twice this. */
const maxFileBytes = 1_048_576
const maxEntryCharacters = 8_192
/** A shorter secret would blank out ordinary words; it is still caught by its place (`password=`). */
const shortestHidden = 4

/** Secrets told by their place in a text, for those that nobody made known. Every repetition is bounded: the text may be hostile. */
const patterns: readonly [RegExp, string][] = [
  [/\b(Bearer\s{1,4}|token\.)[A-Za-z0-9._~+/=-]{8,}/g, '$1•••'],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{1,128}):[^\s@/]{1,1024}@/gi, '$1:•••@'],
  [/\b(pass(?:word|wd|phrase)?|secret|token|api[_-]?key)(["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&)}]+/gi, '$1$2•••']
]

export interface AppLogOptions {
  readonly file: string
  readonly clock: Clock
  /** Also to stderr, for a terminal. */
  readonly echo?: (line: string) => void
  /** The file cannot be written: told once. */
  readonly onFailure?: (error: AppError) => void
}

export function createAppLog({ file, clock, echo, onFailure }: AppLogOptions): AppLog {
  let hasFailed = false
  /** The longest first: one may begin with another. */
  let hidden: readonly string[] = []
  let mask: MaskText = (text) => text

  function redact(text: string): string {
    let clean = text
    for (const secret of hidden) clean = clean.replaceAll(secret, '•••')
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement)
    return mask(clean)
  }

  function write(level: AppLogLevel, message: string): void {
    const text = printable(redact(message).slice(0, maxEntryCharacters))
    const line = `${new Date(clock.now()).toISOString()} ${level} ${text}\n`
    echo?.(line)
    const failure = append(file, line)
    if (!failure || hasFailed) return
    hasFailed = true
    onFailure?.(failure)
  }

  return {
    write,
    redact,
    hide(secret) {
      if (secret.length < shortestHidden) return
      // With the forms in which it may turn up inside other texts; of half a character encodeURIComponent throws.
      const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]
      hidden = [...new Set([...hidden, ...forms])].sort((a, b) => b.length - a.length)
    },
    maskWith(chosen) {
      mask = chosen
    },
    bug(error) {
      const reference = randomBytes(4).toString('hex')
      write('error', `[${reference}] ${describe(error)}`)
      return reference
    }
  }
}

/** Stack and causes; of an AppError the code too. Never other fields: a driver's error may carry the SQL and its values. */
function describe(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return inspect(error, { depth: 1 })
  const head = error instanceof AppError ? `${error.code}: ` : ''
  const cause = error.cause !== undefined && depth < 3 ? `\ncaused by ${describe(error.cause, depth + 1)}` : ''
  return `${head}${error.stack ?? error.message}${cause}`
}

/** A log that cannot be written must not become the failure: what is in the way is returned. */
function append(file: string, line: string): AppError | undefined {
  const unusable = (cause?: unknown): AppError => {
    const text = `The log ${file} cannot be written: this run leaves none. Check the file, its folder's rights and free space.`
    return new AppError('FILE_UNAVAILABLE', 'operational', text, { cause, details: { path: file } })
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const found = statSync(file, { throwIfNoEntry: false })
    if (found && !found.isFile()) return unusable() // writing into a pipe waits for a reader
    if ((found?.size ?? 0) > maxFileBytes) renameSync(file, `${file}.1`)
    appendFileSync(file, line, { mode: 0o600 })
    chmodSync(file, 0o600)
    return undefined
  } catch (error) {
    return unusable(error)
  }
}
