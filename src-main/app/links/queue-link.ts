import type { LinkState, Problem } from '../../contract/index.ts'
import { AppError, toAppError, withDeadline, type Clock, type QueueReading } from '../../kernel/index.ts'
import type { TaskStore } from '../../queue/task-store.ts'
import { Wakeup } from './wakeup.ts'

/** An open queue and what belongs to it. */
export interface OpenQueue {
  readonly store: TaskStore
  close(): Promise<void>
}

/** What trying to open came to. Failing to reach the database is thrown instead. */
export type Opening =
  | { readonly status: 'ready'; readonly queue: OpenQueue }
  | Extract<LinkState, { status: 'schema' | 'locked' }>

/** One sampling of an open queue, as `monitoring` does it: when the next one is due is its decision. */
export interface LookResult {
  readonly reading: QueueReading
  readonly nextInMs: number
}

export interface QueueLinkOptions {
  readonly clock: Clock
  open(): Promise<Opening>
  look(store: TaskStore): Promise<LookResult>
  onState(state: LinkState): void
  /** After each good reading; what it does is not waited for by the page, but by the next reading. */
  onReading(reading: QueueReading, store: TaskStore): Promise<void>
  toProblem(error: unknown): Problem
}

/** A pause that starts short, so that a restarted database is found at once, and does not hammer one that stays away. */
const firstRetryMs = 1_000
const longestRetryMs = 30_000
/** A wrong password is not tried every second: servers lock accounts. */
const userErrorRetryMs = 60_000
/** Somebody else may have made the tables, or given them back. */
const schemaRecheckMs = 30_000
const openDeadlineMs = 30_000
const closeDeadlineMs = 5_000
/** How long a page's request waits for the first connect. */
const firstConnectMs = 10_000

/** The statement failed, not the link: what is open stays open. */
const keepsLink: readonly string[] = ['STATEMENT_TIMEOUT', 'POOL_EXHAUSTED', 'LOCK_TIMEOUT', 'DEADLOCK']

/**
 * Keeps one connection's queue open and looked at. Whatever fails becomes a state that the page shows, and is tried again by itself,
 * for ever: a database that comes back needs nobody.
 */
export class QueueLink {
  private readonly options: QueueLinkOptions
  private readonly stopping = new AbortController()
  private readonly wakeup: Wakeup
  private readonly waiting = new Set<() => void>()
  private queue: OpenQueue | undefined
  private current: LinkState = { status: 'connecting' }
  private failures = 0
  private lastReadingAt: number | null = null
  private problem: AppError | undefined
  private loop: Promise<void> | undefined

  constructor(options: QueueLinkOptions) {
    this.options = options
    this.wakeup = new Wakeup(options.clock)
  }

  get state(): LinkState {
    return this.current
  }

  start(): void {
    this.loop ??= this.run()
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    this.wakeup.wake()
    await this.loop
  }

  /** Tries now instead of at `nextTryAt`. */
  retryNow(): void {
    this.wakeup.wake()
  }

  /** The store while the link is usable; else throws what is in the way, as the page shows it. */
  async store(): Promise<TaskStore> {
    if (this.current.status === 'connecting') await this.settled()
    if (this.queue) return this.queue.store
    throw this.obstacle()
  }

  /** Resolves when the first attempt to open has come to something, at most after ten seconds. */
  async settled(): Promise<void> {
    if (this.current.status !== 'connecting' || this.stopping.signal.aborted) return
    let changed = (): void => undefined
    const change = new Promise<void>((resolve) => (changed = resolve))
    this.waiting.add(changed)
    const late = (): AppError => new AppError('CONNECT_TIMEOUT', 'operational', 'The database does not answer yet.')
    await withDeadline(this.options.clock, firstConnectMs, change, late).finally(() => this.waiting.delete(changed))
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.openAndLook()
      } catch (error) {
        await this.pauseAfter(error)
      }
    }
    await this.closeQueue()
  }

  /** Returns when it should begin anew; throws when something failed. */
  private async openAndLook(): Promise<void> {
    this.queue ??= await this.open()
    const { queue } = this
    if (!queue) return
    const { reading, nextInMs } = await this.options.look(queue.store)
    if (this.stopping.signal.aborted) return
    this.failures = 0
    this.problem = undefined
    this.lastReadingAt = this.options.clock.now()
    this.enter({ status: 'live', lastReadingAt: this.lastReadingAt })
    await this.options.onReading(reading, queue.store)
    await this.wakeup.wait(nextInMs)
  }

  private async open(): Promise<OpenQueue | undefined> {
    const opening = this.options.open()
    const late = (): AppError => new AppError('CONNECT_TIMEOUT', 'operational', 'The database does not answer.')
    const opened = await withDeadline(this.options.clock, openDeadlineMs, opening, late).catch((error: unknown) => {
      // What is opened after all must not stay open unseen.
      void opening.then((result) => result.status === 'ready' && result.queue.close()).catch(() => undefined)
      throw error
    })
    if (opened.status === 'ready') return opened.queue
    this.failures = 0
    this.enter(opened)
    await this.wakeup.wait(schemaRecheckMs)
    return undefined
  }

  private async pauseAfter(error: unknown): Promise<void> {
    if (this.stopping.signal.aborted) return
    this.problem = toAppError(error)
    if (!keepsLink.includes(this.problem.code)) await this.closeQueue()
    this.failures += 1
    const pauseMs = this.pauseMs(this.problem)
    const nextTryAt = this.options.clock.now() + pauseMs
    const problem = this.options.toProblem(error)
    this.enter({ status: 'lost', since: this.lastReadingAt, nextTryAt, failures: this.failures, problem })
    await this.wakeup.wait(pauseMs)
  }

  private pauseMs(error: AppError): number {
    if (error.kind === 'user') return userErrorRetryMs
    const growing = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(this.failures - 1, 6))
    return Math.round(growing * (0.8 + 0.4 * this.options.clock.random()))
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
    for (const resolve of this.waiting) resolve()
    this.waiting.clear()
    this.options.onState(state)
  }

  private obstacle(): AppError {
    if (this.current.status === 'locked')
      return new AppError('LOGIN_REFUSED', 'user', 'Enter the password of this connection first.')
    if (this.current.status === 'schema') return schemaObstacle(this.current.schema)
    const { problem } = this
    if (!problem || problem.kind === 'bug')
      return new AppError('CONNECTION_LOST', 'operational', 'The database cannot be reached now.')
    return new AppError(problem.code, problem.kind, problem.message, { details: problem.details })
  }
}

function schemaObstacle(schema: 'missing' | 'outdated' | 'newer'): AppError {
  if (schema === 'missing')
    return new AppError('SCHEMA_MISSING', 'user', 'This database has no Taskdeck tables yet: create them first.')
  if (schema === 'outdated')
    return new AppError('SCHEMA_OUTDATED', 'user', 'The tables are of an older Taskdeck: bring them up to date first.')
  return new AppError('SCHEMA_NEWER', 'user', 'The tables are of a newer Taskdeck: use that version.')
}
