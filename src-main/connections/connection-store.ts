import { join } from 'node:path'
import { z } from 'zod'
import { AppError, type Clock } from '../kernel/index.ts'
import { peekPrivateFile, readPrivateFile, writePrivateFile } from './private-file.ts'
import type { AccessMode, MysqlSettings } from './settings.ts'

export type Environment = 'local' | 'development' | 'staging' | 'production'

/** A profile has some 2 KB. */
const longestProfile = 65_536

/** A saved MySQL connection. No secret is part of it. */
export interface StoredConnection {
  readonly id: string
  readonly name: string
  readonly environment: Environment
  readonly accessMode: AccessMode
  readonly mysql: MysqlSettings
  /** Text of the profile of a table that is not ours; null: our own tables. */
  readonly profile: string | null
}

const storedConnection: z.ZodType<StoredConnection> = z.object({
  id: z.string().regex(/^[a-z0-9-]{1,64}$/),
  name: z.string().min(1),
  environment: z.enum(['local', 'development', 'staging', 'production']),
  accessMode: z.enum(['read-only', 'read-write']),
  // Unknown keys are dropped: a password that some other program put here does not get written back.
  mysql: z.object({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535),
    user: z.string().min(1),
    database: z.string().min(1),
    tls: z.enum(['disabled', 'required', 'verify-identity']),
    ca: z.string()
  }),
  // Not in files of a Taskdeck that knew its own tables only.
  profile: z.string().max(longestProfile).nullable().default(null)
})

const fileFormat = z.object({ version: z.literal(1), connections: z.array(storedConnection) })

const fileIn = (dataDir: string): string => join(dataDir, 'connections.json')

/** What is stored, for one beside the app: nothing is changed. Throws FILE_UNAVAILABLE for a file that cannot be used. */
export async function readStoredConnections(dataDir: string): Promise<readonly StoredConnection[]> {
  return (await peekPrivateFile(fileIn(dataDir), fileFormat))?.connections ?? []
}

/** The user's connections, in `connections.json`; the file is read once and replaced on each change. */
export class ConnectionStore {
  /** Why an existing file was not used, for the user to read; null when all is well. */
  readonly problem: AppError | null
  private readonly file: string
  private readonly writable: boolean
  private connections: readonly StoredConnection[]
  private tail: Promise<unknown> = Promise.resolve()

  private constructor(
    file: string,
    loaded: { connections: readonly StoredConnection[]; problem: AppError | null; writable: boolean }
  ) {
    this.file = file
    this.connections = loaded.connections
    this.problem = loaded.problem
    this.writable = loaded.writable
  }

  /** Never throws: a damaged file is set aside and reported by `problem`. */
  static async open(dataDir: string, clock: Clock): Promise<ConnectionStore> {
    const file = fileIn(dataDir)
    const { content, problem, writable } = await readPrivateFile(file, fileFormat, clock)
    return new ConnectionStore(file, { connections: content?.connections ?? [], problem, writable })
  }

  list(): readonly StoredConnection[] {
    return this.connections
  }

  get(id: string): StoredConnection | null {
    return this.connections.find((connection) => connection.id === id) ?? null
  }

  /** Adds it, or replaces the one with its id. Throws DISK_FULL or FILE_UNAVAILABLE; then nothing changed. */
  save(connection: StoredConnection): Promise<void> {
    const clean = storedConnection.parse(connection)
    return this.change((all) =>
      all.some(({ id }) => id === clean.id) ? all.map((old) => (old.id === clean.id ? clean : old)) : [...all, clean]
    )
  }

  /** Does nothing when there is no such connection. */
  remove(id: string): Promise<void> {
    return this.change((all) => all.filter((connection) => connection.id !== id))
  }

  /** One after the other: each change builds on the one before. */
  private change(next: (all: readonly StoredConnection[]) => readonly StoredConnection[]): Promise<void> {
    const done = this.tail.then(async () => {
      if (!this.writable) throw this.problem ?? new AppError('BUG', 'bug', 'Not writable without a reason')
      const connections = next(this.connections)
      await writePrivateFile(this.file, { version: 1, connections })
      this.connections = connections
    })
    this.tail = done.catch(() => undefined)
    return done
  }
}
