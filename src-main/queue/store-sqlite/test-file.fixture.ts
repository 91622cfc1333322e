import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { newTask, systemClock, type NewTask, type NewTaskInput } from '../../kernel/index.ts'
import { sqliteSchema } from './schema.ts'

export const migrationsDir = resolve(import.meta.dirname, '../../../migrations/sqlite')

/** A file name in a folder that goes away with the test. */
export function temporaryFile(name = 'queue.db'): string {
  const folder = mkdtempSync(join(tmpdir(), 'taskdeck-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

/** A migrated, empty queue. */
export async function emptyQueue(): Promise<string> {
  const file = temporaryFile()
  await sqliteSchema({ file, clock: systemClock, migrationsDir }).migrate()
  return file
}

export const task = (input: Partial<NewTaskInput> = {}): NewTask =>
  newTask.parse({ type: 't', payload: '{}', ...input })
