import type { DatabaseEvent, Problem } from '../../contract/index.ts'
import { AppError, pause, toAppError, type Clock, type DatabaseHealth } from '../../kernel/index.ts'

/** What is looked at; open for as long as somebody listens. */
export interface WatchedDatabase {
  /** Ends early when the signal aborts. */
  look(signal: AbortSignal): Promise<DatabaseHealth>
  close(): Promise<void>
}

export interface DatabaseWatchesOptions {
  readonly clock: Clock
  /** Changes when another database, or the same in another way, is meant by the id. Throws NOT_FOUND for one that is gone. */
  readonly identity: (connectionId: string) => string
  readonly open: (connectionId: string) => Promise<WatchedDatabase>
  readonly toProblem: (error: unknown) => Problem
}

const everyMs = 5_000
const slowestMs = 60_000
/** Of the time, looking may take this part of the database. */
const costShare = 0.02
const mostReaders = 32

/**
 * One look for all pages that show a database, and none while no page does. Never two looks at once; slower when they are dear or fail.
 * The last page that leaves closes the connection, whatever it is at.
 */
export class DatabaseWatches {
  private readonly options: DatabaseWatchesOptions
  private readonly watches = new Map<string, Watch>()

  constructor(options: DatabaseWatchesOptions) {
    this.options = options
  }

  /** Ends when `signal` aborts; throws NOT_FOUND when the connection is removed, TOO_MANY_CONNECTIONS beyond 32 pages. */
  async *watch(connectionId: string, signal = new AbortController().signal): AsyncGenerator<DatabaseEvent, void> {
    this.options.identity(connectionId)
    if (signal.aborted) return
    const watch = this.watches.get(connectionId) ?? this.begin(connectionId)
    const reader = watch.join()
    const leave = (): void => {
      watch.leave(reader)
      if (watch.isEmpty) this.forget(connectionId, watch)
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      for (let event = await reader.next(); event; event = await reader.next()) yield event
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  private forget(connectionId: string, watch: Watch): void {
    if (this.watches.get(connectionId) === watch) this.watches.delete(connectionId)
  }

  private begin(connectionId: string): Watch {
    const watch = new Watch(connectionId, this.options)
    this.watches.set(connectionId, watch)
    void watch.ended.then(() => this.forget(connectionId, watch))
    return watch
  }
}

/** The newest event that a page has not had. */
class Reader {
  private waiting: DatabaseEvent | undefined
  private ending: { readonly error: Error | undefined } | undefined
  private wake: () => void = () => undefined

  put(event: DatabaseEvent): void {
    this.waiting = event
    this.wake()
  }

  /** `error` undefined ends in good order. */
  end(error: Error | undefined): void {
    this.ending ??= { error }
    this.wake()
  }

  /** Undefined at the end. */
  async next(): Promise<DatabaseEvent | undefined> {
    while (!this.waiting && !this.ending) await new Promise<void>((resolve) => (this.wake = resolve))
    if (this.ending) {
      if (this.ending.error === undefined) return undefined
      throw this.ending.error
    }
    const event = this.waiting
    this.waiting = undefined
    return event
  }
}

class Watch {
  /** Never rejects. */
  readonly ended: Promise<void>
  private readonly connectionId: string
  private readonly options: DatabaseWatchesOptions
  private readonly readers = new Set<Reader>()
  private readonly stopper = new AbortController()
  private latest: DatabaseEvent | undefined
  private opened: { readonly database: WatchedDatabase; readonly identity: string } | undefined
  private failures = 0

  constructor(connectionId: string, options: DatabaseWatchesOptions) {
    this.connectionId = connectionId
    this.options = options
    this.ended = this.run(this.stopper.signal)
  }

  get isEmpty(): boolean {
    return this.readers.size === 0
  }

  join(): Reader {
    if (this.readers.size >= mostReaders)
      throw new AppError('TOO_MANY_CONNECTIONS', 'operational', 'Too many pages are open: close some of them.')
    const reader = new Reader()
    if (this.latest) reader.put(this.latest)
    this.readers.add(reader)
    return reader
  }

  leave(reader: Reader): void {
    this.readers.delete(reader)
    reader.end(undefined)
    if (this.readers.size > 0 || this.stopper.signal.aborted) return
    this.stopper.abort()
    void this.close()
  }

  private async run(stop: AbortSignal): Promise<void> {
    try {
      while (!stop.aborted) await pause(this.options.clock, await this.once(stop), stop)
    } catch (error) {
      // The connection is gone: nothing is to be watched any more.
      for (const reader of this.readers) reader.end(toAppError(error))
    }
    await this.close()
  }

  /** One look; returns how long to wait after it. */
  private async once(stop: AbortSignal): Promise<number> {
    const { clock, identity } = this.options
    const wanted = identity(this.connectionId)
    try {
      const database = await this.database(wanted, stop)
      const health = await database.look(stop)
      this.failures = 0
      this.publish({ status: 'seen', health }, stop)
      return Math.max(everyMs, Math.min(slowestMs, health.costMs / costShare))
    } catch (error) {
      await this.close()
      const waitMs = Math.min(slowestMs, everyMs * 2 ** Math.min(this.failures++, 10))
      if (stop.aborted) return 0
      this.publish({ status: 'failed', problem: this.options.toProblem(error), nextTryAt: clock.now() + waitMs }, stop)
      return waitMs
    }
  }

  private async database(identity: string, stop: AbortSignal): Promise<WatchedDatabase> {
    if (this.opened && this.opened.identity !== identity) await this.close()
    if (this.opened) return this.opened.database
    const database = await this.options.open(this.connectionId)
    this.opened = { database, identity }
    // The last page left meanwhile.
    if (stop.aborted) await this.close()
    return database
  }

  private publish(event: DatabaseEvent, stop: AbortSignal): void {
    if (stop.aborted) return
    this.latest = event
    for (const reader of this.readers) reader.put(event)
  }

  private async close(): Promise<void> {
    const opened = this.opened
    this.opened = undefined
    await opened?.database.close().catch(() => undefined)
  }
}
