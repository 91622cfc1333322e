import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What is tested: the built app of this checkout, or another one (a packaged build has the same folders). */
export const builtRoot = resolve(process.env['TASKDECK_E2E_ROOT'] ?? join(import.meta.dirname, '../../..'))

export function builtFile(path: string): string {
  const file = join(builtRoot, path)
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npm run build\` first`)
  return file
}

/** An empty data folder, in a path that has what users' paths have. */
export function newDataDir(): string {
  return join(mkdtempSync(join(tmpdir(), 'taskdeck e2e ü-')), 'data')
}

/** Without what only the other runtime needs. Every answer and event is checked against the contract. */
export function shellEnvironment(extra: Record<string, string> = {}, forNode = true): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !(forNode && entry[0] === 'SQLITE_NATIVE_BINDING') && !entry[0].startsWith('VITEST')
  )
  return { ...Object.fromEntries(kept), TASKDECK_VALIDATE_OUTPUTS: '1', TASKDECK_NO_DIALOGS: '1', ...extra }
}

/** Chromium as it runs without a window: painting costs half of what the whole browser takes for it. */
export const chromiumFile = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell'
export const isRoot = process.getuid?.() === 0
