// Files in subfolders are for shared code: they hold no handlers of their own, and a change in them reloads the handlers.
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Mail {
  readonly to: string
  readonly subject: string
}

export function openOutbox(dir = join(tmpdir(), 'taskdeck-outbox')) {
  return {
    /** False when a mail with this key is there already. */
    async sendOnce(key: string, mail: Mail): Promise<boolean> {
      await mkdir(dir, { recursive: true })
      try {
        await writeFile(join(dir, `${encodeURIComponent(key)}.json`), JSON.stringify(mail), { flag: 'wx' })
        return true
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
        throw error
      }
    }
  }
}
