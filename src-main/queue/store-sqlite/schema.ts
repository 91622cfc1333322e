import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { AppError, type Clock } from '../../kernel/index.ts'
import { readMigrations, type Migration } from '../migration-files.ts'
import { missingSchema, newerSchema, outdatedSchema } from '../schema-errors.ts'
import type { SchemaInstaller, SchemaStatus } from '../task-store.ts'
import { QueueFile, type QueueFileOptions, type Session } from './queue-file.ts'

export interface SqliteSchemaOptions {
  readonly file: string
  readonly clock: Clock
  /** Where `0001_….sql` and its successors are. */
  readonly migrationsDir: string
}

const journal = `
CREATE TABLE IF NOT EXISTS taskdeck_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- Of the statements that ran, without their comments.
  hash TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

/**
 * Makes and checks the tables in an SQLite file. SQLite rolls back its DDL, so each migration is one transaction with its
 * journal row: a kill leaves it done or not begun.
 */
export function sqliteSchema(options: SqliteSchemaOptions): SchemaInstaller {
  return {
    status: async () => {
      const migrations = await readMigrations(options.migrationsDir)
      if (!(await exists(options.file))) return { status: 'missing' }
      return withFile({ ...options, inspect: true }, (file) =>
        file.read((session) => schemaStatus(session, migrations))
      )
    },
    pending: async () => {
      const migrations = await readMigrations(options.migrationsDir)
      const done = (await exists(options.file))
        ? await withFile({ ...options, inspect: true }, (file) =>
            file.read((session) => usableVersion(session, migrations))
          )
        : 0
      return migrations.slice(done).flatMap(({ name, steps }) => steps.map(({ sql }) => ({ migration: name, sql })))
    },
    migrate: async () => {
      const migrations = await readMigrations(options.migrationsDir)
      await createPrivately(options.file)
      await withFile(options, async (file) => {
        for (const migration of migrations) await file.write((session) => apply(file, session, migrations, migration))
        if (!file.isStamped) await file.write(() => file.stamp())
      })
    }
  }
}

/** Throws when a store must not be opened on this schema: SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_NEWER or SCHEMA_BROKEN. */
export function requireReadySchema(session: Session, migrations: readonly Migration[], file: string): void {
  const found = schemaStatus(session, migrations)
  if (found.status === 'ready') return
  if (found.status === 'missing') throw missingSchema(file)
  if (found.status === 'newer') throw newerSchema(found)
  throw outdatedSchema(found)
}

function schemaStatus(session: Session, migrations: readonly Migration[]): SchemaStatus {
  const version = appliedVersion(session, migrations)
  const latest = migrations.length
  if (version === 0) return { status: 'missing' }
  if (version > latest) return { status: 'newer', version, latest }
  return version < latest ? { status: 'outdated', version, latest } : { status: 'ready', version }
}

function usableVersion(session: Session, migrations: readonly Migration[]): number {
  const version = appliedVersion(session, migrations)
  if (version > migrations.length) throw newerSchema({ version, latest: migrations.length })
  return version
}

/** 0 when nothing was applied. Throws SCHEMA_BROKEN for tables without a journal and for migrations that were changed later. */
function appliedVersion(session: Session, migrations: readonly Migration[]): number {
  const tables = session
    .all<{ name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'taskdeck\\_%' ESCAPE '\\'`
    )
    .map(({ name }) => name)
  if (!tables.includes('taskdeck_migration')) {
    if (tables.includes('taskdeck_task')) throw broken('its tables have no journal')
    return 0
  }
  const rows = session.all<{ version: number; hash: string }>(
    'SELECT version, hash FROM taskdeck_migration ORDER BY version LIMIT 10000'
  )
  for (const { version, hash } of rows) {
    const migration = migrations[version - 1]
    if (migration && hashOf(migration) !== hash) throw broken(`migration ${version} is not the one that made it`)
  }
  return rows.at(-1)?.version ?? 0
}

function apply(file: QueueFile, session: Session, migrations: readonly Migration[], migration: Migration): void {
  // Asked again under the lock: another process may have been first.
  if (usableVersion(session, migrations) >= migration.version) return
  file.stamp()
  file.execute(journal)
  for (const { sql } of migration.steps) file.execute(sql)
  session.run('INSERT INTO taskdeck_migration (version, name, hash, applied_at) VALUES (:version, :name, :hash, :at)', {
    version: migration.version,
    name: migration.name,
    hash: hashOf(migration),
    at: session.at
  })
}

const hashOf = ({ steps }: Migration): string =>
  createHash('sha256')
    .update(steps.map(({ hash }) => hash).join('\n'))
    .digest('hex')

const broken = (reason: string): AppError =>
  new AppError('SCHEMA_BROKEN', 'operational', `The queue file cannot be used: ${reason}.`)

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.size > 0,
    () => false
  )

/** Payloads may be confidential: only the user reads them. SQLite gives its -wal and -shm files the same rights. */
async function createPrivately(file: string): Promise<void> {
  try {
    await (await open(file, 'a', 0o600)).close()
  } catch (cause) {
    throw new AppError('FILE_UNAVAILABLE', 'operational', `${file} cannot be made or written.`, { cause })
  }
}

async function withFile<T>(options: QueueFileOptions, work: (file: QueueFile) => Promise<T>): Promise<T> {
  const file = await QueueFile.open(options)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}
