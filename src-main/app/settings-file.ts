import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { settings, type Settings } from '../contract/index.ts'
import { AppError } from '../kernel/index.ts'

const defaults: Settings = { theme: 'system', language: 'system' }

/** What the user has chosen for the page. A file that cannot be read is as good as none: two choices are quickly made again. */
export class SettingsFile {
  private readonly file: string
  private current: Settings

  constructor(file: string) {
    this.file = file
    this.current = read(file)
  }

  get(): Settings {
    return this.current
  }

  /** Throws FILE_UNAVAILABLE; the choice then holds until the exit. */
  save(chosen: Settings): Settings {
    this.current = chosen
    try {
      writeFileSync(`${this.file}.new`, JSON.stringify(chosen), { mode: 0o600 })
      renameSync(`${this.file}.new`, this.file)
    } catch (cause) {
      const text = `The settings hold until Taskdeck ends: ${this.file} cannot be written. Check free space and rights.`
      throw new AppError('FILE_UNAVAILABLE', 'operational', text, { cause, details: { path: this.file } })
    }
    return chosen
  }
}

function read(file: string): Settings {
  try {
    return settings.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return defaults
  }
}
