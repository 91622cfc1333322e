import { readPrivateFile, writePrivateFile } from '../connections/index.ts'
import { settings, type Settings } from '../contract/index.ts'
import { AppError, type Clock } from '../kernel/index.ts'
import { maskingWith, type Masking } from '../operations/index.ts'

const defaults: Settings = { theme: 'system', language: 'system', sensitiveKeys: [] }

/** Files of older versions lack the newer choices. */
const stored = settings.extend({ sensitiveKeys: settings.shape.sensitiveKeys.default([]) })

interface Loaded {
  readonly current: Settings
  readonly problem: AppError | null
  readonly writable: boolean
}

/** What the user has chosen. */
export class SettingsFile {
  /** Why an existing file was not used, for the user to read; null when all is well. */
  readonly problem: AppError | null
  private readonly file: string
  private readonly writable: boolean
  private current: Settings
  private chosenMasking: Masking
  private tail: Promise<unknown> = Promise.resolve()

  private constructor(file: string, { current, problem, writable }: Loaded) {
    this.file = file
    this.current = current
    this.chosenMasking = maskingWith(current.sensitiveKeys)
    this.problem = problem
    this.writable = writable
  }

  /** Never throws: with a file that cannot be used the choices are the defaults. */
  static async open(file: string, clock: Clock): Promise<SettingsFile> {
    const { content, problem, writable } = await readPrivateFile(file, stored, clock)
    return new SettingsFile(file, { current: content ?? defaults, problem, writable })
  }

  get(): Settings {
    return this.current
  }

  /** By the names that are chosen now. */
  get masking(): Masking {
    return this.chosenMasking
  }

  /** The others stay. Throws FILE_UNAVAILABLE; the choice then holds until the exit. */
  async save(change: Partial<Settings>): Promise<Settings> {
    const chosen = { ...this.current, ...change }
    this.current = chosen
    this.chosenMasking = maskingWith(chosen.sensitiveKeys)
    const saved = this.tail.then(() => this.write(chosen))
    this.tail = saved.catch(() => undefined)
    await saved
    return chosen
  }

  /** Resolves when what was chosen is in the file, or cannot be: a choice that is followed by the exit at once is not lost. */
  async close(): Promise<void> {
    await this.tail
  }

  private async write(chosen: Settings): Promise<void> {
    try {
      if (!this.writable) throw this.problem ?? new AppError('BUG', 'bug', 'Not writable without a reason')
      await writePrivateFile(this.file, chosen)
    } catch (cause) {
      const text = `The settings hold until Taskdeck ends: ${this.file} cannot be written. Check free space and rights.`
      throw new AppError('FILE_UNAVAILABLE', 'operational', text, { cause, details: { path: this.file } })
    }
  }
}
