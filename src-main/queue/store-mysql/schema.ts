import { AppError, pause, type Clock, type SqlDatabase, type SqlRunner } from '../../kernel/index.ts'
import { readMigrations, type Migration, type MigrationStep } from '../migration-files.ts'
import { newerSchema } from '../schema-errors.ts'
import type { MigrationStatement, SchemaInstaller, SchemaStatus } from '../task-store.ts'
import { count, text } from './row-values.ts'

export interface MysqlSchemaOptions {
  /** Two connections at least: one holds the lock of the migration. */
  readonly database: SqlDatabase
  readonly clock: Clock
  /** Folder with the numbered .sql files. */
  readonly migrationsDir: string
}

const createJournal = `
CREATE TABLE IF NOT EXISTS taskdeck_migration (
  version SMALLINT UNSIGNED NOT NULL,
  step SMALLINT UNSIGNED NOT NULL,
  name VARCHAR(100) NOT NULL,
  hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  done TINYINT UNSIGNED NOT NULL,
  started_at DATETIME(6) NOT NULL,
  done_at DATETIME(6) NULL,
  PRIMARY KEY (version, step)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`

const findJournal = `
SELECT COUNT(*) AS n FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'taskdeck_migration'`
const readJournal = 'SELECT version, step, hash, done FROM taskdeck_migration ORDER BY version, step'
const startStep = `
INSERT INTO taskdeck_migration (version, step, name, hash, done, started_at) VALUES (?, ?, ?, ?, 0, NOW(6))`
const endStep = 'UPDATE taskdeck_migration SET done = 1, done_at = NOW(6) WHERE version = ? AND step = ?'

/** Table exists, column exists, index exists, nothing to drop: a killed predecessor got as far as that. */
const alreadyThere: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1091])

const lockWaitSeconds = 5
const lockWaits = 12
/** The server ends a session that is silent for two minutes, with its lock; a statement on a large table takes longer. */
const lockCheckMs = 30_000

interface JournalRow {
  readonly version: number
  readonly step: number
  readonly hash: string
  readonly done: boolean
}

interface PendingStep {
  readonly migration: Migration
  readonly step: MigrationStep
  /** The journal says that it was begun, not that it ended. */
  readonly started: boolean
}

/**
 * The tables' installer. The server commits each DDL statement by itself, so the journal has one row a statement, written before and
 * marked after it: whatever moment a kill hits, the next run knows where to go on.
 */
export function mysqlSchema(options: MysqlSchemaOptions): SchemaInstaller {
  const { database, clock, migrationsDir } = options
  const load = async (): Promise<{ migrations: Migration[]; journal: JournalRow[] }> => ({
    migrations: await readMigrations(migrationsDir),
    journal: await journalOf(database)
  })
  return {
    status: async () => {
      const { migrations, journal } = await load()
      return statusOf(migrations, journal)
    },
    pending: async () => {
      const { migrations, journal } = await load()
      refuseNewer(statusOf(migrations, journal))
      return pendingOf(migrations, journal).map(({ migration, step }): MigrationStatement => ({
        migration: migration.name,
        sql: step.sql
      }))
    },
    migrate: async () => {
      const { migrations, journal } = await load()
      if (statusOf(migrations, journal).status === 'ready') return
      await withMigrationLock({ database, clock }, (checkLock) => run(database, migrations, checkLock))
    }
  }
}

async function run(
  database: SqlDatabase,
  migrations: readonly Migration[],
  checkLock: () => Promise<void>
): Promise<void> {
  await database.execute(createJournal)
  // Read under the lock: another process may have done all of it meanwhile.
  const journal = await journalOf(database)
  refuseNewer(statusOf(migrations, journal))
  for (const pending of pendingOf(migrations, journal)) {
    await checkLock()
    await runStep(database, pending)
  }
}

async function runStep(database: SqlDatabase, { migration, step, started }: PendingStep): Promise<void> {
  if (!started) await database.execute(startStep, [migration.version, step.step, migration.name, step.hash])
  try {
    await database.execute(step.sql)
  } catch (error) {
    if (!(error instanceof AppError) || !alreadyThere.has(error.details['errno'])) throw error
    if (!started) throw inTheWay(migration, step, error)
  }
  await database.execute(endStep, [migration.version, step.step])
}

async function journalOf(database: SqlDatabase): Promise<JournalRow[]> {
  const [found] = (await database.execute(findJournal)).rows
  if (!found || count(found, 'n') === 0) return []
  const { rows } = await database.execute(readJournal)
  return rows.map((row) => ({
    version: count(row, 'version'),
    step: count(row, 'step'),
    hash: text(row, 'hash'),
    done: count(row, 'done') === 1
  }))
}

function statusOf(migrations: readonly Migration[], journal: readonly JournalRow[]): SchemaStatus {
  const latest = migrations.length
  const newest = Math.max(0, ...journal.map(({ version }) => version))
  if (newest > latest) return { status: 'newer', version: newest, latest }
  const pending = pendingOf(migrations, journal)
  const [first] = pending
  if (!first) return { status: 'ready', version: latest }
  const version = first.migration.version - 1
  return version === 0 ? { status: 'missing' } : { status: 'outdated', version, latest }
}

/** Throws SCHEMA_BROKEN when a statement differs from the one that was run. */
function pendingOf(migrations: readonly Migration[], journal: readonly JournalRow[]): PendingStep[] {
  return migrations.flatMap((migration) =>
    migration.steps.flatMap((step) => {
      const row = journal.find((entry) => entry.version === migration.version && entry.step === step.step)
      if (row && row.hash !== step.hash) throw changed(migration, step)
      return row?.done ? [] : [{ migration, step, started: row !== undefined }]
    })
  )
}

/**
 * The lock lives as long as its connection, so a killed process does not leave it behind. `work` is to call `checkLock` before what
 * only the holder may do: it throws CONNECTION_LOST once the lock is gone.
 */
async function withMigrationLock(
  { database, clock }: Pick<MysqlSchemaOptions, 'database' | 'clock'>,
  work: (checkLock: () => Promise<void>) => Promise<void>
): Promise<void> {
  let tellHeld: (runner: SqlRunner) => void = () => undefined
  const held = new Promise<SqlRunner>((resolve) => (tellHeld = resolve))
  const released = new AbortController()
  const lock = database.transaction(
    async (runner) => {
      await takeLock(runner)
      tellHeld(runner)
      while (await pause(clock, lockCheckMs, released.signal)) await requireLock(runner)
      await runner.execute(releaseLockSql, [lockName])
    },
    // It waits by itself for a lock that another process has.
    { retries: 0, readBack: () => Promise.resolve(true) }
  )
  // Only a lock that was not taken ends `lock` first: its loss later is for `checkLock` to find.
  const notTaken = lock.then(() => held)
  const done = Promise.race([held, notTaken]).then((runner) => work(() => requireLock(runner)))
  await done.finally(() => released.abort()).catch(() => undefined)
  await lock.catch(() => undefined)
  await done
}

/** Named after the database by the server, since locks are the server's. */
const lockName = 'taskdeck_migration'
const releaseLockSql = `SELECT RELEASE_LOCK(CONCAT(?, '_', MD5(DATABASE())))`
const holdsLockSql = `SELECT IS_USED_LOCK(CONCAT(?, '_', MD5(DATABASE()))) = CONNECTION_ID() AS held`
const takeLockSql = `SELECT GET_LOCK(CONCAT(?, '_', MD5(DATABASE())), ${lockWaitSeconds}) AS taken`

async function takeLock(runner: SqlRunner): Promise<void> {
  for (let wait = 0; wait < lockWaits; wait++) {
    const [row] = (await runner.execute(takeLockSql, [lockName])).rows
    if (row && row['taken'] !== null && count(row, 'taken') === 1) return
  }
  throw new AppError('LOCK_TIMEOUT', 'operational', 'Another process is making the tables: try again when it is done.')
}

/** On the lock's own session; whatever keeps it from answering, the lock cannot be relied on. */
async function requireLock(runner: SqlRunner): Promise<void> {
  const [row] = await runner.execute(holdsLockSql, [lockName]).then(
    ({ rows }) => rows,
    (cause: unknown) => Promise.reject(lockLost(cause))
  )
  if (row && row['held'] !== null && count(row, 'held') === 1) return
  throw lockLost()
}

const lockLost = (cause?: unknown): AppError =>
  new AppError(
    'CONNECTION_LOST',
    'operational',
    'The connection that keeps other processes from changing the tables was lost: run this again, it goes on where it stopped.',
    { cause }
  )

function refuseNewer(status: SchemaStatus): void {
  if (status.status === 'newer') throw newerSchema(status)
}

const changed = (migration: Migration, { step }: MigrationStep): AppError =>
  new AppError(
    'SCHEMA_BROKEN',
    'user',
    `Statement ${step} of migration ${migration.name} is not the one that made these tables: use the Taskdeck that made them.`,
    { details: { migration: migration.name, step } }
  )

const inTheWay = (migration: Migration, { step }: MigrationStep, cause: AppError): AppError =>
  new AppError(
    'SCHEMA_BROKEN',
    'user',
    `Statement ${step} of migration ${migration.name} meets a table, column or index of the same name that Taskdeck did not make: rename it or use another database.`,
    { cause, details: { migration: migration.name, step } }
  )
