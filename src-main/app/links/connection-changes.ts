import { createHash } from 'node:crypto'
import type { AccessMode, ConnectionView } from '../../contract/index.ts'
import {
  deniedCommand,
  requirePlainNames,
  type ConnectionStore,
  type Secrets,
  type StoredConnection
} from '../../connections/index.ts'
import { AppError, toAppError, type Clock } from '../../kernel/index.ts'
import type { MigrationStatement } from '../../queue/task-store.ts'
import type { AppLog } from '../app-log.ts'
import {
  isElsewhere,
  refuseUnconfirmedWriting,
  storedFrom,
  usableProfile,
  type ParsedDraft
} from './connection-draft.ts'
import type { Connections } from './connections.ts'
import { foreignTable } from './foreign-profile.ts'
import { mysqlInstaller, openDatabase, type DatabasePlaces } from './open-queue.ts'

export interface ConnectionChangesOptions {
  readonly clock: Clock
  readonly places: DatabasePlaces
  readonly connections: Connections
  readonly stored: ConnectionStore
  readonly secrets: Secrets
  readonly log: AppLog
}

const maxConnections = 50

/** What the user changes of a connection: its settings, its password, whether it writes, its tables. One after the other. */
export class ConnectionChanges {
  private readonly options: ConnectionChangesOptions
  private tail: Promise<unknown> = Promise.resolve()

  constructor(options: ConnectionChangesOptions) {
    this.options = options
  }

  save(draft: ParsedDraft): Promise<ConnectionView> {
    const { connections } = this.options
    return this.change(async () => {
      const known = draft.id === null ? null : connections.stored(draft.id)
      if (!known && connections.count >= maxConnections)
        throw new AppError(
          'INVALID_INPUT',
          'user',
          `There are ${maxConnections} connections already: remove one first.`
        )
      refuseUnconfirmedWriting(draft, known)
      requirePlainNames(draft.mysql)
      usableProfile(draft)
      const stored = storedFrom(draft, known)
      await this.write(stored, known, draft)
      await connections.reopen(stored, known !== null && isElsewhere(known, stored))
      return connections.view(stored.id)
    })
  }

  remove(id: string): Promise<void> {
    const { connections, stored, secrets } = this.options
    return this.change(async () => {
      connections.stored(id)
      await stored.remove(id)
      await secrets.forget(id)
      await connections.close(id)
    })
  }

  /** The password is known until the exit, unless the server refuses it: the view's link then says so. */
  unlock(id: string, password: string): Promise<ConnectionView> {
    const { connections, secrets, log } = this.options
    return this.change(async () => {
      const stored = connections.stored(id)
      log.hide(password)
      await secrets.keep(id, stored.mysql, { password, place: 'session' })
      await connections.reopen(stored)
      return connections.view(id)
    })
  }

  setAccessMode(id: string, accessMode: AccessMode, confirmation: string): Promise<ConnectionView> {
    const { connections, stored: file } = this.options
    return this.change(async () => {
      const stored = connections.stored(id)
      if (accessMode === 'read-write' && stored.profile !== null) throw foreignTable()
      if (accessMode === 'read-write' && stored.environment === 'production' && confirmation !== stored.name)
        throw new AppError('INVALID_INPUT', 'user', 'Type the name of the connection to write to production.')
      const changed = { ...stored, accessMode }
      await file.save(changed)
      await connections.reopen(changed)
      return connections.view(id)
    })
  }

  async schemaPlan(id: string): Promise<readonly MigrationStatement[]> {
    return this.withInstaller(id, 'read-only', (installer) => installer.pending())
  }

  /** Runs exactly the statements that the user has read: `planHash` is SHA-256 of them, joined by a newline. */
  async migrate(id: string, planHash: string): Promise<ConnectionView> {
    const { connections } = this.options
    connections.requireWritable(id)
    await this.withInstaller(id, 'read-write', async (installer) => {
      const plan = await installer.pending()
      const hash = createHash('sha256')
        .update(plan.map(({ sql }) => sql).join('\n'))
        .digest('hex')
      if (hash !== planHash)
        throw new AppError(
          'INVALID_INPUT',
          'user',
          'The statements have changed since they were shown: read them again.'
        )
      await installer.migrate()
    })
    // Among the other changes: between the two steps of a reopening nobody else may remove or reopen the same connection.
    return this.change(async () => {
      await connections.reopen(connections.stored(id))
      return connections.view(id)
    })
  }

  private async withInstaller<T>(
    id: string,
    accessMode: AccessMode,
    work: (installer: ReturnType<typeof mysqlInstaller>) => Promise<T>
  ): Promise<T> {
    const { clock, places, connections } = this.options
    if (connections.stored(id).profile !== null) throw foreignTable()
    const login = await connections.login(id)
    if (!login) throw new AppError('BUG', 'bug', 'a MySQL connection has a login')
    const database = await openDatabase(login, accessMode, { clock, use: 'migration' })
    try {
      return await work(mysqlInstaller(database, places))
    } catch (error) {
      throw deniedCommand(toAppError(error), login)
    } finally {
      await database.close()
    }
  }

  /**
   * First the settings: a file that cannot be written leaves every secret as it was. A vault that refuses takes them back, so the
   * user can save again.
   */
  private async write(stored: StoredConnection, known: StoredConnection | null, draft: ParsedDraft): Promise<void> {
    const { stored: file, log } = this.options
    await file.save(stored)
    try {
      await this.keepPassword(stored, draft)
    } catch (error) {
      await (known ? file.save(known) : file.remove(stored.id)).catch((second: unknown) => log.bug(second))
      throw error
    }
  }

  private async keepPassword(stored: StoredConnection, draft: ParsedDraft): Promise<void> {
    const { secrets, log } = this.options
    if (draft.password === null) return secrets.retarget(stored.id, stored.mysql)
    log.hide(draft.password)
    await secrets.keep(stored.id, stored.mysql, { password: draft.password, place: draft.keepPassword })
  }

  private change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(work)
    this.tail = done.catch(() => undefined)
    return done
  }
}
