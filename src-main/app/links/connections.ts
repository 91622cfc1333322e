import { createHash, randomBytes } from 'node:crypto'
import {
  localConnectionId,
  type AccessMode,
  type ConnectionView,
  type LinkState,
  connectionDraft
} from '../../contract/index.ts'
import {
  serverName,
  type ConnectionStore,
  type MysqlLogin,
  type PasswordPlace,
  type Secrets,
  type StoredConnection
} from '../../connections/index.ts'
import { AppError, type Clock } from '../../kernel/index.ts'
import type { Tick } from '../../monitoring/index.ts'
import { writeBlock } from '../../operations/index.ts'
import type { MigrationStatement, TaskStore } from '../../queue/task-store.ts'
import type { z } from 'zod'
import type { AppLog } from '../app-log.ts'
import { toProblem } from '../problem.ts'
import { mysqlInstaller, openDatabase, openLocalQueue, openMysqlQueue, type DatabasePlaces } from './open-queue.ts'
import { QueueLink, type Opening } from './queue-link.ts'

export type ParsedDraft = z.output<typeof connectionDraft>

export interface ConnectionsOptions {
  readonly clock: Clock
  readonly places: DatabasePlaces
  /** The embedded queue's file. */
  readonly localFile: string
  readonly stored: ConnectionStore
  readonly secrets: Secrets
  readonly log: AppLog
  onChange(): void
  onTick(tick: Tick, target: { readonly store: TaskStore; readonly accessMode: AccessMode }): void
  /** When its newest known reading was made, also in an earlier run; null when there never was one. */
  lastKnownAt(connectionId: string): Promise<number | null>
  /** Before a connection's queue is closed for good or opened otherwise. */
  onClosing(connectionId: string): Promise<void>
  /** Its settings lead to another database from now on: what was seen under its id is not of that one. */
  onMoved(connectionId: string): Promise<void>
}

interface Entry {
  readonly stored: StoredConnection | null
  readonly link: QueueLink
  server: string | null
  password: PasswordPlace
  /** What a link that has not had a reading yet is "since". */
  lastKnownAt: number | null
}

const localView = {
  id: localConnectionId,
  name: 'Local queue',
  environment: 'local',
  accessMode: 'read-write'
} as const
const maxConnections = 50

/** The open connections: the embedded queue, and one link for each that the user has saved. */
export class Connections {
  private readonly options: ConnectionsOptions
  private readonly entries = new Map<string, Entry>()
  /** Changes of one list, one after the other. */
  private tail: Promise<unknown> = Promise.resolve()

  constructor(options: ConnectionsOptions) {
    this.options = options
  }

  /** Resolves when the embedded queue is open, or is known not to. */
  async start(): Promise<void> {
    this.open(localConnectionId, null)
    for (const stored of this.options.stored.list()) this.open(stored.id, stored)
    await this.entry(localConnectionId)
      .link.settled()
      .catch(() => undefined)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.entries.values()].map((entry) => entry.link.stop()))
    this.entries.clear()
  }

  views(): ConnectionView[] {
    return [...this.entries.keys()].map((id) => this.view(id))
  }

  view(id: string): ConnectionView {
    const { stored, server, password, ...entry } = this.entry(id)
    const link = sinceLastKnown(entry.link.state, entry.lastKnownAt)
    if (!stored) return { ...localView, kind: 'sqlite', mysql: null, password: 'none', server: 'SQLite', link }
    const { name, environment, accessMode, mysql } = stored
    return { id, name, environment, accessMode, kind: 'mysql', mysql, password, server, link }
  }

  /** Throws NOT_FOUND, or what is in the way of using it. */
  store(id: string): Promise<TaskStore> {
    return this.entry(id).link.store()
  }

  /** The same for what changes tasks: also throws READ_ONLY. */
  writableStore(id: string): Promise<TaskStore> {
    this.requireWritable(id)
    return this.store(id)
  }

  requireWritable(id: string): void {
    const { accessMode, name } = this.view(id)
    const block = writeBlock({ accessMode, connectionName: name })
    if (block) throw block
  }

  /** For connections of one's own (the local worker). null is the embedded queue. Throws when no password is known. */
  async login(id: string): Promise<MysqlLogin | null> {
    const { stored } = this.entry(id)
    if (!stored) return null
    const password = await this.options.secrets.password(id, stored.mysql)
    if (password === null) throw new AppError('LOGIN_REFUSED', 'user', 'Enter the password of this connection first.')
    this.options.log.hide(password)
    return { ...stored.mysql, password }
  }

  retryNow(id: string): void {
    this.entry(id).link.retryNow()
  }

  save(draft: ParsedDraft): Promise<ConnectionView> {
    return this.change(async () => {
      const known = draft.id === null ? null : this.mysqlEntry(draft.id).stored
      if (!known && this.entries.size >= maxConnections)
        throw new AppError(
          'INVALID_INPUT',
          'user',
          `There are ${maxConnections} connections already: remove one first.`
        )
      refuseUnconfirmedWriting(draft, known)
      const stored: StoredConnection = {
        id: known?.id ?? newId(draft.name),
        name: draft.name,
        environment: draft.environment,
        accessMode: draft.accessMode,
        mysql: draft.mysql
      }
      await this.write(stored, known, draft)
      await this.reopen(stored, known !== null && isElsewhere(known, stored))
      return this.view(stored.id)
    })
  }

  remove(id: string): Promise<void> {
    return this.change(async () => {
      this.mysqlEntry(id)
      await this.options.stored.remove(id)
      await this.options.secrets.forget(id)
      await this.close(id)
      this.options.onChange()
    })
  }

  unlock(id: string, password: string): Promise<ConnectionView> {
    return this.change(async () => {
      const { stored } = this.mysqlEntry(id)
      this.options.log.hide(password)
      await this.options.secrets.keep(id, stored.mysql, { password, place: 'session' })
      await this.reopen(stored)
      return this.view(id)
    })
  }

  setAccessMode(id: string, accessMode: AccessMode, confirmation: string): Promise<ConnectionView> {
    return this.change(async () => {
      const { stored } = this.mysqlEntry(id)
      if (accessMode === 'read-write' && stored.environment === 'production' && confirmation !== stored.name)
        throw new AppError('INVALID_INPUT', 'user', 'Type the name of the connection to write to production.')
      const changed = { ...stored, accessMode }
      await this.options.stored.save(changed)
      await this.reopen(changed)
      return this.view(id)
    })
  }

  async schemaPlan(id: string): Promise<readonly MigrationStatement[]> {
    return this.withInstaller(id, 'read-only', (installer) => installer.pending())
  }

  /** Runs exactly the statements that the user has read: `planHash` is SHA-256 of them, joined by a newline. */
  async migrate(id: string, planHash: string): Promise<ConnectionView> {
    this.requireWritable(id)
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
      const { stored } = this.mysqlEntry(id)
      await this.reopen(stored)
      return this.view(id)
    })
  }

  private async withInstaller<T>(
    id: string,
    accessMode: AccessMode,
    work: (installer: ReturnType<typeof mysqlInstaller>) => Promise<T>
  ): Promise<T> {
    this.mysqlEntry(id)
    const login = await this.login(id)
    if (!login) throw new AppError('BUG', 'bug', 'a MySQL connection has a login')
    const { clock, places } = this.options
    const database = await openDatabase(login, accessMode, { clock, use: 'migration' })
    try {
      return await work(mysqlInstaller(database, places))
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

  private async reopen(stored: StoredConnection, moved = false): Promise<void> {
    const lastSeq = this.entries.get(stored.id)?.link.seq ?? 0
    if (this.entries.has(stored.id)) {
      await this.options.onClosing(stored.id)
      await this.entry(stored.id).link.stop()
    }
    // Between the last reading of the old database and the first of the new one.
    if (moved) await this.options.onMoved(stored.id).catch((error: unknown) => this.options.log.bug(error))
    this.open(stored.id, stored, lastSeq)
    await this.refreshPassword(stored)
    await this.entry(stored.id)
      .link.settled()
      .catch(() => undefined)
  }

  private async close(id: string): Promise<void> {
    await this.options.onClosing(id)
    const entry = this.entry(id)
    this.entries.delete(id)
    await entry.link.stop()
  }

  private open(id: string, stored: StoredConnection | null, lastSeq = 0): void {
    const { options } = this
    const { clock, log } = options
    let shown = ''
    const link = new QueueLink({
      connectionId: id,
      clock,
      lastSeq,
      open: () => this.openQueue(id, stored),
      onTick: (tick, store) => options.onTick(tick, { store, accessMode: stored?.accessMode ?? 'read-write' }),
      onState: (state) => {
        const summary = summaryOf(state)
        if (summary !== shown) log.write(state.status === 'lost' ? 'warn' : 'info', `connection ${id}: ${summary}`)
        shown = summary
        options.onChange()
      },
      toProblem: (error) => toProblem(error, log),
      onBug: (error) => log.bug(error)
    })
    const entry: Entry = { stored, link, server: null, password: stored ? 'missing' : 'none', lastKnownAt: null }
    this.entries.set(id, entry)
    link.start()
    void this.recall(id, entry)
  }

  /** Beside the first attempt: neither waits for the other. */
  private async recall(id: string, entry: Entry): Promise<void> {
    try {
      entry.lastKnownAt = await this.options.lastKnownAt(id)
    } catch (error) {
      this.options.log.bug(error)
    }
    if (entry.link.state.status === 'lost') this.options.onChange()
  }

  private async openQueue(id: string, stored: StoredConnection | null): Promise<Opening> {
    const { places, localFile, secrets, log } = this.options
    if (!stored) return openLocalQueue(localFile, places)
    const password = await secrets.password(id, stored.mysql)
    await this.refreshPassword(stored)
    if (password === null) return { status: 'locked' }
    log.hide(password)
    const { opening, database } = await openMysqlQueue({ ...stored.mysql, password }, stored.accessMode, places)
    const entry = this.entries.get(id)
    if (entry) entry.server = serverName(database.flavour, database.serverVersion)
    return opening
  }

  private async refreshPassword(stored: StoredConnection): Promise<void> {
    const place = await this.options.secrets.place(stored.id, stored.mysql)
    const entry = this.entries.get(stored.id)
    if (entry) entry.password = place
  }

  private entry(id: string): Entry {
    const entry = this.entries.get(id)
    if (!entry) throw new AppError('NOT_FOUND', 'user', 'This connection does not exist (any more).')
    return entry
  }

  private mysqlEntry(id: string): Entry & { readonly stored: StoredConnection } {
    const entry = this.entry(id)
    const { stored } = entry
    if (!stored) throw new AppError('INVALID_INPUT', 'user', 'The local queue is part of Taskdeck: it has no settings.')
    return { ...entry, stored }
  }

  private change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(work)
    this.tail = done.catch(() => undefined)
    return done
  }
}

const isElsewhere = ({ mysql: before }: StoredConnection, { mysql: after }: StoredConnection): boolean =>
  before.host !== after.host || before.port !== after.port || before.database !== after.database

/** Changing production takes the typed name, which only `setAccessMode` asks for. */
function refuseUnconfirmedWriting(draft: ParsedDraft, known: StoredConnection | null): void {
  if (draft.environment !== 'production' || draft.accessMode === 'read-only') return
  if (known?.environment === 'production' && known.accessMode === 'read-write') return
  throw new AppError(
    'INVALID_INPUT',
    'user',
    'Save a production connection as read-only; then switch it to read-write by typing its name.',
    { details: { field: 'accessMode' } }
  )
}

function newId(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `${words || 'connection'}-${randomBytes(3).toString('hex')}`
}

/** A database that is away since before this start was last read in an earlier run. */
function sinceLastKnown(state: LinkState, lastKnownAt: number | null): LinkState {
  return state.status === 'lost' ? { ...state, since: state.since ?? lastKnownAt } : state
}

function summaryOf(state: LinkState): string {
  if (state.status === 'lost') return `lost (${state.problem.code})`
  if (state.status === 'schema') return `schema ${state.schema}`
  return state.status
}
