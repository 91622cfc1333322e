import {
  localConnectionId,
  type AccessMode,
  type ConnectionView,
  type LinkState,
  type Problem
} from '../../contract/index.ts'
import {
  refusesPassword,
  serverName,
  type ConnectionStore,
  type MysqlLogin,
  type PasswordPlace,
  type Secrets,
  type StoredConnection
} from '../../connections/index.ts'
import { AppError, type Clock, type SqlDatabase } from '../../kernel/index.ts'
import type { Tick } from '../../monitoring/index.ts'
import { writeBlock, type ActionTarget } from '../../operations/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import type { AppLog } from '../app-log.ts'
import { toProblem } from '../problem.ts'
import { foreignTable, profileIn, profileView } from './foreign-profile.ts'
import { openForeignQueue } from './open-foreign.ts'
import { openLocalQueue, openMysqlQueue, type DatabasePlaces } from './open-queue.ts'
import { QueueLink, type Opening } from './queue-link.ts'

export interface ConnectionsOptions {
  readonly clock: Clock
  readonly places: DatabasePlaces
  /** The embedded queue's file. */
  readonly localFile: string
  readonly stored: ConnectionStore
  readonly secrets: Secrets
  readonly log: AppLog
  onChange(): void
  /** `store` is null for a table that is not ours. */
  onTick(tick: Tick, target: { readonly store: TaskStore | null; readonly accessMode: AccessMode }): void
  /** When its newest known reading was made, also in an earlier run; null when there never was one. */
  lastKnownAt(connectionId: string): Promise<number | null>
  /** Before a connection's queue is closed for good or opened otherwise. */
  onClosing(connectionId: string): Promise<void>
  /** Its settings lead to another database from now on: what was seen under its id is not of that one. */
  onMoved(connectionId: string): Promise<void>
}

interface Entry {
  readonly stored: StoredConnection | null
  readonly profile: ConnectionView['profile']
  readonly link: QueueLink
  server: string | null
  password: PasswordPlace
  /** Why the server refused the password that was known; null when it did not. */
  refusal: Problem | null
  /** What a link that has not had a reading yet is "since". */
  lastKnownAt: number | null
  isClosing: boolean
}

const localView = {
  id: localConnectionId,
  name: 'Local queue',
  environment: 'local',
  accessMode: 'read-write',
  profile: null
} as const

/** The open connections: the embedded queue, and one link for each that the user has saved. */
export class Connections {
  private readonly options: ConnectionsOptions
  private readonly entries = new Map<string, Entry>()

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

  get count(): number {
    return this.entries.size
  }

  views(): ConnectionView[] {
    return [...this.entries.keys()].map((id) => this.view(id))
  }

  view(id: string): ConnectionView {
    const { stored, server, password, profile, ...entry } = this.entry(id)
    const link = sinceLastKnown(entry.link.state, entry.lastKnownAt)
    if (!stored) return { ...localView, kind: 'sqlite', mysql: null, password: 'none', server: 'SQLite', link }
    const { name, environment, accessMode, mysql } = stored
    return { id, name, environment, accessMode, kind: 'mysql', mysql, profile, password, server, link }
  }

  /** Throws NOT_FOUND, FOREIGN_TABLE, or what is in the way of using it. */
  async store(id: string): Promise<TaskStore> {
    this.requireOurs(id)
    return this.entry(id).link.store()
  }

  /** The same for what changes tasks: also throws READ_ONLY. */
  async writableStore(id: string): Promise<TaskStore> {
    this.requireWritable(id)
    return this.store(id)
  }

  /** What an operator's action has to know of it. Throws FOREIGN_TABLE where there is nothing to act on. */
  target(id: string): ActionTarget {
    this.requireOurs(id)
    const { name, environment, accessMode } = this.view(id)
    return { connectionId: id, connectionName: name, environment, accessMode }
  }

  requireWritable(id: string): void {
    const block = writeBlock(this.target(id))
    if (block) throw block
  }

  /** The settings of one that the user has made. Throws NOT_FOUND, and INVALID_INPUT for the embedded queue. */
  stored(id: string): StoredConnection {
    const { stored } = this.entry(id)
    if (!stored) throw new AppError('INVALID_INPUT', 'user', 'The local queue is part of Taskdeck: it has no settings.')
    return stored
  }

  /** For connections of one's own (the local worker). null is the embedded queue. Throws when no password is known, or the connection is being changed. */
  async login(id: string): Promise<MysqlLogin | null> {
    const { stored, isClosing } = this.entry(id)
    if (!stored) return null
    if (isClosing) throw new AppError('CONNECTION_LOST', 'user', 'This connection is just being changed: try again.')
    const password = await this.options.secrets.password(id, stored.mysql)
    if (password === null) throw new AppError('LOGIN_REFUSED', 'user', 'Enter the password of this connection first.')
    this.options.log.hide(password)
    return { ...stored.mysql, password }
  }

  retryNow(id: string): void {
    this.entry(id).link.retryNow()
  }

  /** Opens it, or closes it and opens it otherwise. Resolves when that has come to something. */
  async reopen(stored: StoredConnection, moved = false): Promise<void> {
    const lastSeq = this.entries.get(stored.id)?.link.seq ?? 0
    if (this.entries.has(stored.id)) await (await this.leave(stored.id)).link.stop()
    // Between the last reading of the old database and the first of the new one.
    if (moved) await this.options.onMoved(stored.id).catch((error: unknown) => this.options.log.bug(error))
    const entry = this.open(stored.id, stored, lastSeq)
    await this.refreshPassword(entry, stored)
    await entry.link.settled().catch(() => undefined)
  }

  async close(id: string): Promise<void> {
    const { link } = await this.leave(id)
    this.entries.delete(id)
    await link.stop()
    this.options.onChange()
  }

  /** Everything of the app has let go of it, and nothing takes it up again as it was. */
  private async leave(id: string): Promise<Entry> {
    const entry = this.entry(id)
    entry.isClosing = true
    try {
      await this.options.onClosing(id)
    } catch (error) {
      entry.isClosing = false
      throw error
    }
    return entry
  }

  private open(id: string, stored: StoredConnection | null, lastSeq = 0): Entry {
    const { options } = this
    const { clock, log } = options
    let shown = ''
    const link = new QueueLink({
      connectionId: id,
      clock,
      lastSeq,
      open: () => (stored ? this.openServer(entry, stored) : openLocalQueue(options.localFile, options.places)),
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
    const password = stored ? 'missing' : 'none'
    const known = { server: null, password, refusal: null, lastKnownAt: null } as const
    const entry: Entry = { stored, profile: profileView(stored?.profile ?? null), link, ...known, isClosing: false }
    this.entries.set(id, entry)
    link.start()
    void this.recall(id, entry)
    return entry
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

  private async openServer(entry: Entry, stored: StoredConnection): Promise<Opening> {
    const { places, secrets, log } = this.options
    const password = await secrets.password(stored.id, stored.mysql)
    await this.refreshPassword(entry, stored)
    if (password === null) return { status: 'locked', problem: entry.refusal }
    log.hide(password)
    try {
      const { opening, database } = await openStored(stored, password, places)
      secrets.accepted(stored.id)
      entry.server = serverName(database.flavour, database.serverVersion)
      return opening
    } catch (error) {
      if (!refusesPassword(error)) throw error
      return this.forgetPassword(entry, stored, { password, error })
    }
  }

  /** What the server refused is not tried again by itself, nor shown as known: the page asks for another one. */
  private async forgetPassword(
    entry: Entry,
    stored: StoredConnection,
    { password, error }: { password: string; error: unknown }
  ): Promise<Opening> {
    const { secrets, log } = this.options
    await secrets.refused(stored.id, password).catch((second: unknown) => log.bug(second))
    await this.refreshPassword(entry, stored)
    entry.refusal = toProblem(error, log)
    return { status: 'locked', problem: entry.refusal }
  }

  private async refreshPassword(entry: Entry, stored: StoredConnection): Promise<void> {
    entry.password = await this.options.secrets.place(stored.id, stored.mysql)
  }

  private requireOurs(id: string): void {
    if (this.entry(id).profile) throw foreignTable()
  }

  private entry(id: string): Entry {
    const entry = this.entries.get(id)
    if (!entry) throw new AppError('NOT_FOUND', 'user', 'This connection does not exist (any more).')
    return entry
  }
}

async function openStored(
  { mysql, accessMode, profile }: StoredConnection,
  password: string,
  places: DatabasePlaces
): Promise<{ opening: Opening; database: Pick<SqlDatabase, 'flavour' | 'serverVersion'> }> {
  const login = { ...mysql, password }
  if (profile === null) return openMysqlQueue(login, accessMode, places)
  const { queue, database } = await openForeignQueue(login, profileIn(profile), places.clock)
  return { opening: { status: 'ready', queue }, database }
}

/** A database that is away since before this start was last read in an earlier run. */
function sinceLastKnown(state: LinkState, lastKnownAt: number | null): LinkState {
  return state.status === 'lost' ? { ...state, since: state.since ?? lastKnownAt } : state
}

function summaryOf(state: LinkState): string {
  if (state.status === 'lost') return `lost (${state.problem.code})`
  if (state.status === 'schema') return `schema ${state.schema}`
  if (state.status === 'locked') return state.problem ? `locked (${state.problem.code})` : 'locked'
  return state.status
}
