import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AppLog } from './app-log.ts'

/** 10,000 orders, 200 of them bad: always the same bytes. */
interface SampleMaker {
  makeImport(): string
}

/** The file that the page offers for a first import, made once. null when it cannot be: the page then offers none. */
export async function makeSampleImport(
  { resourcesDir, dataDir }: { readonly resourcesDir: string; readonly dataDir: string },
  log: AppLog
): Promise<string | null> {
  const folder = join(dataDir, 'samples')
  const file = join(folder, 'orders.csv')
  if (existsSync(file)) return file
  try {
    const maker = (await import(pathToFileURL(join(resourcesDir, 'demo/make-import.mjs')).href)) as SampleMaker
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, maker.makeImport(), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return file
  } catch (error) {
    log.write(
      'warn',
      `The sample file for an import was not made: ${error instanceof Error ? error.message : String(error)}`
    )
    return null
  }
}
