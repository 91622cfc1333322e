import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../kernel/index.ts'

/** One numbered file, such as `0001_queue.sql`. */
export interface Migration {
  /** The number in front of the name; versions start at 1 and have no gaps. */
  readonly version: number
  /** The file's name without `.sql`. */
  readonly name: string
  readonly steps: readonly MigrationStep[]
}

export interface MigrationStep {
  /** From 1. */
  readonly step: number
  readonly sql: string
  /** SHA-256 (hex) of the statement without comments and with white space folded: a reworded comment is no change. */
  readonly hash: string
}

const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/

/**
 * The migrations of a directory in order. Throws AppError `SCHEMA_BROKEN` (kind bug) for a gap or a doubled number, and
 * `FILE_UNAVAILABLE` when the directory cannot be read.
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new AppError('FILE_UNAVAILABLE', 'operational', `The migrations in ${directory} cannot be read.`, { cause })
  })
  const files = names.filter((name) => fileName.test(name)).sort()
  const migrations = await Promise.all(files.map((name) => readMigration(directory, name)))
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1)
      throw new AppError('SCHEMA_BROKEN', 'bug', `Migration ${index + 1} is missing or doubled in ${directory}.`)
  })
  return migrations
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  const text = await readFile(join(directory, file), 'utf8')
  const steps = splitStatements(text).map((sql, index) => ({ step: index + 1, sql, hash: hashStatement(sql) }))
  return { version: Number(file.slice(0, 4)), name: file.slice(0, -'.sql'.length), steps }
}

/** Quoted texts and names, comments, the separator: what a statement's end has to be told apart from. */
const token = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--[^\n]*|\/\*[\s\S]*?\*\/|;/g

/** The statements of a file, without their semicolons. Compound statements (BEGIN … END) are not known here. */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  for (const match of text.matchAll(token)) {
    if (match[0] !== ';') continue
    statements.push(text.slice(start, match.index).trim())
    start = match.index + 1
  }
  statements.push(text.slice(start).trim())
  return statements.filter((sql) => withoutComments(sql) !== '')
}

/** SHA-256 (hex) of what the database sees of a statement. */
export function hashStatement(sql: string): string {
  return createHash('sha256').update(withoutComments(sql)).digest('hex')
}

const withoutComments = (sql: string): string =>
  sql
    .replace(token, (found) => (found.startsWith('--') || found.startsWith('/*') ? ' ' : found))
    .replace(/\s+/g, ' ')
    .trim()
