import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Path of a file with this content, which is gone after the test. */
export function temporaryFile(content: string | Buffer, name = 'rows.xlsx'): string {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}
