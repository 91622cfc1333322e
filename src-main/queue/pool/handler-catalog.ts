import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, pause, toAppError, type Clock } from '../../kernel/index.ts'
import { errorClassesName, readErrorClasses } from './error-classes-file.ts'
import type { ErrorRule } from './error-rules.ts'
import { readHandlerFolder, type HandlerFolder } from './handler-folder.ts'
import { describeHandlers, type HandlerDescription } from './handler-descriptions.ts'

/** Where a worker's handlers come from. */
export interface HandlerSource {
  /** sleep, flaky, cpu, http-request, import-csv, import-xlsx. */
  readonly builtIn: boolean
  /** Absolute path of a folder with the user's own, null for none. */
  readonly dir: string | null
}

export interface HandlerProblem {
  readonly file: string
  /** HANDLER_LOAD_FAILED. */
  readonly error: AppError
}

export interface HandlerCatalogReading {
  /** By type. */
  readonly handlers: readonly HandlerDescription[]
  readonly problems: readonly HandlerProblem[]
  /** The folder's own, before the built-in ones. */
  readonly errorRules: readonly ErrorRule[]
}

export interface HandlerCatalogOptions {
  readonly source: HandlerSource
  /** Where compiled handler files are kept; made when it is missing. */
  readonly cacheDir: string
  readonly clock: Clock
  readonly onChange: (reading: HandlerCatalogReading) => void
}

const watchEveryMs = 1_000

/**
 * What handlers there are, read in a thread of its own and again when a file of the folder (shared modules in its subfolders
 * included) changes. A broken file is a problem in the list; the others go on.
 */
export class HandlerCatalog {
  private readonly options: HandlerCatalogOptions
  private readonly stopped = new AbortController()
  private loop: Promise<void> = Promise.resolve()
  private signature: string | undefined
  private latest: HandlerCatalogReading = { handlers: [], problems: [], errorRules: [] }

  constructor(options: HandlerCatalogOptions) {
    this.options = options
  }

  get reading(): HandlerCatalogReading {
    return this.latest
  }

  /** Resolves after the first reading. Never rejects: what fails is in `problems`. */
  async start(): Promise<void> {
    await this.refresh()
    if (this.options.source.dir !== null) this.loop = this.watch(this.options.source.dir)
  }

  async stop(): Promise<void> {
    this.stopped.abort()
    await this.loop
  }

  private async watch(dir: string): Promise<void> {
    while (await pause(this.options.clock, watchEveryMs, this.stopped.signal)) {
      const now = await readHandlerFolder(dir).catch(() => undefined)
      if (now?.signature !== this.signature) await this.refresh()
    }
  }

  private async refresh(): Promise<void> {
    const { source, clock, cacheDir, onChange } = this.options
    let folder: HandlerFolder = { files: [], irregular: [], signature: '' }
    const problems: HandlerProblem[] = []
    try {
      if (source.dir !== null) {
        folder = await readHandlerFolder(source.dir)
        await mkdir(cacheDir, { recursive: true, mode: 0o700 })
      }
      this.signature = folder.signature
    } catch (error) {
      this.signature = undefined
      problems.push(loadProblem(source.dir ?? '', 'The folder cannot be read.', error))
    }
    const errorRules = await this.readRules(problems)
    const described = await describeHandlers({ builtIn: source.builtIn, files: folder.files, cacheDir, clock })
    const broken = described.broken.map(({ file, message }) => loadProblem(file, message))
    for (const file of folder.irregular) problems.push(loadProblem(file, 'It is no regular file: it was not read.'))
    const { handlers, doubled } = uniqueByType(described.handlers)
    this.latest = { handlers, problems: [...problems, ...broken, ...doubled], errorRules }
    onChange(this.latest)
  }

  /** A broken file changes nothing. */
  private async readRules(problems: HandlerProblem[]): Promise<readonly ErrorRule[]> {
    const { dir } = this.options.source
    if (dir === null) return []
    try {
      return await readErrorClasses(dir)
    } catch (error) {
      problems.push({ file: join(dir, errorClassesName), error: toAppError(error) })
      return this.latest.errorRules
    }
  }
}

/** Built-in types come first and cannot be replaced; of two files with one type the first by name wins. */
function uniqueByType(found: readonly HandlerDescription[]): {
  handlers: HandlerDescription[]
  doubled: HandlerProblem[]
} {
  const byType = new Map<string, HandlerDescription>()
  const doubled: HandlerProblem[] = []
  for (const handler of found) {
    const first = byType.get(handler.type)
    if (!first) byType.set(handler.type, handler)
    else
      doubled.push(
        loadProblem(handler.file ?? '', `"${handler.type}" is defined by ${first.file ?? 'Taskdeck'} already.`)
      )
  }
  const handlers = [...byType.values()].sort((a, b) => (a.type < b.type ? -1 : 1))
  return { handlers, doubled }
}

const loadProblem = (file: string, message: string, cause?: unknown): HandlerProblem => ({
  file,
  error: new AppError('HANDLER_LOAD_FAILED', 'user', message, { cause, details: { file } })
})
