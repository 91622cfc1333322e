import type Database from 'better-sqlite3'
import { AppError } from '../../kernel/index.ts'

/**
 * SQLite's `application_id` of a queue's file, the letters "TDqu": it tells the file from any other SQLite file, also to
 * `file(1)` and the like. Never changed: files out there have it.
 */
export const queueApplicationId = 0x54447175

/**
 * Refuses another program's file, whose tables ours would otherwise be added to. Reads only. Accepted are an empty file, one with the
 * id, and one with our tables, as they were made before there was an id. Throws AppError SCHEMA_BROKEN.
 */
export function requireOurs(database: Database.Database, file: string): void {
  const id = applicationIdOf(database)
  if (id === queueApplicationId) return
  const objects = database.prepare<[], string>('SELECT name FROM sqlite_schema LIMIT 10000').pluck().all()
  if (id === 0 && objects.length === 0) return
  if (objects.some((name) => name.startsWith('taskdeck_'))) return
  throw new AppError(
    'SCHEMA_BROKEN',
    'operational',
    `${file} belongs to another program and was left as it is. Move it away, or keep the queue under another name.`
  )
}

/** Gives a file of ours the id when it has none; inside a transaction, with which it is rolled back. */
export function stamp(database: Database.Database): void {
  if (applicationIdOf(database) === 0) database.pragma(`application_id = ${queueApplicationId}`)
}

export const applicationIdOf = (database: Database.Database): number =>
  Number(database.pragma('application_id', { simple: true }))
