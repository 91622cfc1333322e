import type { LinkState, Problem } from '../../contract/index.ts'
import { AppError, toAppError, withDeadline, type Clock, type QueueReading } from '../../kernel/index.ts'
import { createSampler, type Sampler, type SamplerState, type Tick } from '../../monitoring/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { foreignTable } from './foreign-profile.ts'

/** An open queue and what belongs to it. */
export interface OpenQueue {
  /** Aborting ends what runs on the server for it. */
  read(signal?: AbortSignal): Promise<QueueReading>
  /** null for a table that is not ours: it is read and nothing else. */
  readonly store: TaskStore | null
  close(): Promise<void>
}

/** One of our own. */
export interface OwnQueue extends OpenQueue {
  readonly store: TaskStore
}

/** In the way of opening, and nothing that waiting alone would change. */
export type Obstacle = Extract<LinkState, { status: 'schema' | 'locked' }>

/** What trying to open came to. Failing to reach the database is thrown instead. */
export type Opening<Queue extends OpenQueue = OpenQueue> =
  { readonly status: 'ready'; readonly queue: Queue } | Obstacle

export interface QueueLinkOptions {
  readonly connectionId: string
  readonly clock: Clock
  /** The number of the last tick that the page has seen of this connection. */
  readonly lastSeq: number
  open(): Promise<Opening>
  onState(state: LinkState): void
  onTick(tick: Tick, store: TaskStore | null): void
  toProblem(error: unknown): Problem
  onBug(error: unknown): void
}

/** A wrong password is not tried every second: servers lock accounts. */
const userErrorRetryMs = 60_000
/** Of opening and reading together. */
const readDeadlineMs = 20_000
const closeDeadlineMs = 5_000
/** How long a page's request waits for the first connect. */
const firstConnectMs = 10_000

/** The statement failed, not the link: what is open stays open. */
const keepsLink: readonly string[] = ['STATEMENT_TIMEOUT', 'POOL_EXHAUSTED', 'LOCK_TIMEOUT', 'DEADLOCK']

class ObstacleError extends Error {
  readonly obstacle: Obstacle
  constructor(obstacle: Obstacle) {
    super(obstacle.status)
    this.obstacle = obstacle
  }
}

/**
 * Keeps one connection's queue open and looked at. Whatever fails becomes a state that the page shows, and is tried again by itself,
 * for ever: a database that comes back needs nobody. When to look, and when to try again, is the sampler's decision.
 */
export class QueueLink {
  private readonly options: QueueLinkOptions
  private readonly sampler: Sampler
  private readonly waiting = new Set<() => void>()
  private queue: OpenQueue | undefined
  private current: LinkState = { status: 'connecting' }
  private failure: AppError | undefined
  /** Until when the last refusal is repeated without asking the server (monotonic). */
  private refusal: { readonly error: unknown; readonly until: number } | undefined
  private stopped = false

  constructor(options: QueueLinkOptions) {
    this.options = options
    const { clock, connectionId, lastSeq } = options
    this.sampler = createSampler({
      connectionId,
      clock,
      lastSeq,
      deadlineMs: readDeadlineMs,
      read: (signal) => this.read(signal),
      onState: (state) => this.onSampler(state),
      onTick: (tick) => this.queue && options.onTick(tick, this.queue.store),
      onBug: (error) => options.onBug(error)
    })
  }

  get state(): LinkState {
    return this.current
  }

  get seq(): number {
    return this.sampler.seq
  }

  start(): void {
    this.sampler.start()
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.sampler.stop()
    await this.closeQueue()
    this.wakeWaiting()
  }

  /** Tries now instead of at `nextTryAt`. */
  retryNow(): void {
    this.refusal = undefined
    this.sampler.retryNow()
  }

  /** The store while the link is usable; else throws what is in the way, as the page shows it. FOREIGN_TABLE where there is none. */
  async store(): Promise<TaskStore> {
    if (this.current.status === 'connecting') await this.settled()
    if (this.queue && !this.queue.store) throw foreignTable()
    if (this.queue?.store) return this.queue.store
    throw this.inTheWay()
  }

  /** Resolves when the first attempt has come to something, or the link is stopped. Throws CONNECT_TIMEOUT after ten seconds. */
  async settled(): Promise<void> {
    if (this.current.status !== 'connecting' || this.stopped) return
    let changed = (): void => undefined
    const change = new Promise<void>((resolve) => (changed = resolve))
    this.waiting.add(changed)
    const late = (): AppError => new AppError('CONNECT_TIMEOUT', 'operational', 'The database does not answer yet.')
    await withDeadline(this.options.clock, firstConnectMs, change, late).finally(() => this.waiting.delete(changed))
  }

  private async read(signal: AbortSignal): Promise<QueueReading> {
    if (this.refusal && this.options.clock.monotonic() < this.refusal.until) throw this.refusal.error
    this.queue ??= await this.open()
    return this.queue.read(signal)
  }

  private async open(): Promise<OpenQueue> {
    try {
      const opened = await this.options.open()
      if (opened.status !== 'ready') throw new ObstacleError(opened)
      // A reading that came too late may have opened a second one meanwhile, or the link has been stopped.
      if (this.stopped || this.queue) await opened.queue.close()
      if (this.stopped) throw new AppError('CONNECTION_LOST', 'operational', 'The connection was closed.')
      return this.queue ?? opened.queue
    } catch (error) {
      if (error instanceof AppError && error.kind === 'user')
        this.refusal = { error, until: this.options.clock.monotonic() + userErrorRetryMs }
      throw error
    }
  }

  private onSampler(state: SamplerState): void {
    if (this.stopped) return
    if (state.status === 'connecting') return
    if (state.status === 'live') {
      this.failure = undefined
      return this.enter(state)
    }
    const cause = state.error.cause
    if (cause instanceof ObstacleError) return this.enter(cause.obstacle)
    this.failure = toAppError(state.error)
    if (!keepsLink.includes(this.failure.code)) void this.closeQueue()
    const { since, failures } = state
    const waitsMs = this.refusal ? this.refusal.until - this.options.clock.monotonic() : 0
    const nextTryAt = Math.max(state.nextTryAt, this.options.clock.now() + waitsMs)
    this.enter({ status: 'lost', since, failures, nextTryAt, problem: this.options.toProblem(this.failure) })
  }

  private async closeQueue(): Promise<void> {
    const { queue } = this
    this.queue = undefined
    if (!queue) return
    const late = (): Error => new Error('closing took too long')
    await withDeadline(this.options.clock, closeDeadlineMs, queue.close(), late).catch(() => undefined)
  }

  private enter(state: LinkState): void {
    this.current = state
    this.wakeWaiting()
    this.options.onState(state)
  }

  private wakeWaiting(): void {
    for (const resolve of this.waiting) resolve()
    this.waiting.clear()
  }

  private inTheWay(): AppError {
    if (this.current.status === 'locked')
      return new AppError('LOGIN_REFUSED', 'user', 'Enter the password of this connection first.')
    if (this.current.status === 'schema') return schemaInTheWay(this.current.schema)
    const { failure } = this
    if (!failure || failure.kind === 'bug')
      return new AppError('CONNECTION_LOST', 'operational', 'The database cannot be reached now.')
    return new AppError(failure.code, failure.kind, failure.message, { details: failure.details })
  }
}

function schemaInTheWay(schema: 'missing' | 'outdated' | 'newer'): AppError {
  if (schema === 'missing')
    return new AppError('SCHEMA_MISSING', 'user', 'This database has no Taskdeck tables yet: create them first.')
  if (schema === 'outdated')
    return new AppError('SCHEMA_OUTDATED', 'user', 'The tables are of an older Taskdeck: bring them up to date first.')
  return new AppError('SCHEMA_NEWER', 'user', 'The tables are of a newer Taskdeck: use that version.')
}
