import { AppError, type ErrorCode } from '../../kernel/index.ts'

interface Meaning {
  readonly code: ErrorCode
  readonly says: (file: string) => string
}

/** By SQLite's primary result code: extended ones (SQLITE_IOERR_WRITE, SQLITE_BUSY_SNAPSHOT, …) begin with it. */
const meanings: readonly (readonly [prefix: string, meaning: Meaning])[] = [
  [
    'SQLITE_FULL',
    { code: 'DISK_FULL', says: (file) => `There is no room left to write ${file}. Free some disk space.` }
  ],
  ['SQLITE_CORRUPT', damaged()],
  ['SQLITE_NOTADB', damaged()],
  [
    'SQLITE_READONLY',
    {
      code: 'SERVER_READ_ONLY',
      says: (file) => `${file} cannot be written. Check the permissions of the file and its folder.`
    }
  ],
  ['SQLITE_CANTOPEN', unavailable()],
  ['SQLITE_PERM', unavailable()],
  ['SQLITE_AUTH', unavailable()],
  ['SQLITE_IOERR', unavailable()],
  ['SQLITE_BUSY', { code: 'LOCK_TIMEOUT', says: (file) => `${file} was locked by another process for too long.` }],
  ['SQLITE_LOCKED', { code: 'LOCK_TIMEOUT', says: (file) => `${file} was locked for too long.` }]
]

function damaged(): Meaning {
  return {
    code: 'SCHEMA_BROKEN',
    says: (file) =>
      `${file} is damaged or no SQLite database. Move it away, with its -wal and -shm files, to start anew.`
  }
}

/** The folder is missing, the file is a folder, the rights do not suffice. */
export function unavailableFile(file: string, cause?: unknown): AppError {
  const { code, says } = unavailable()
  return new AppError(code, 'operational', says(file), { cause })
}

function unavailable(): Meaning {
  return {
    code: 'FILE_UNAVAILABLE',
    says: (file) => `${file} cannot be opened, read or written. Check that the folder exists and who may use it.`
  }
}

/** What the driver threw, as an AppError of kind `operational`; what SQLite has no code for stays a bug. */
export function sqliteAppError(error: unknown, file: string): AppError {
  if (error instanceof AppError) return error
  const code = sqliteCode(error)
  const found = meanings.find(([prefix]) => code?.startsWith(prefix))?.[1]
  if (found) return new AppError(found.code, 'operational', found.says(file), { cause: error })
  const text = error instanceof Error ? error.message : String(error)
  if (code === undefined) return new AppError('BUG', 'bug', text, { cause: error })
  return new AppError('SQL_FAILED', 'operational', `SQLite refused a statement on ${file}: ${text}`, { cause: error })
}

/** Another connection holds the lock: the whole transaction may be run again. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
}

function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return error.code.startsWith('SQLITE_') ? error.code : undefined
}
