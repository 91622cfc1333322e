import { AppError, withDeadline, type Clock } from '../kernel/index.ts'

/** What the pool needs to know of a session. */
export interface PooledSession {
  readonly isBroken: boolean
  /** It must not be used again. */
  readonly tainted: boolean
  /** Called once, when it broke or was ended. */
  onBroken: () => void
  destroy(): void
  end(graceMs: number): Promise<void>
}

export interface SessionPoolOptions<S extends PooledSession> {
  readonly open: () => Promise<S>
  readonly size: number
  readonly acquireTimeoutMs: number
  readonly clock: Clock
}

/** Below the server's own limit for our sessions, so that it never ends one that is just being taken. */
const maxIdleMs = 60_000

/** How long `close` waits for sessions in use, and then for the server's goodbye. */
const closeGraceMs = 2_000

interface Waiter<S> {
  /** A free session, or null: a place is free, open one. */
  readonly serve: (session: S | null) => void
  readonly fail: (error: AppError) => void
}

/**
 * At most `size` sessions. The driver's own pool waits without limit, keeps connections that a failover made useless,
 * and hands over sessions before their settings are made; hence this one.
 */
export class SessionPool<S extends PooledSession> {
  private readonly options: SessionPoolOptions<S>
  /** Open sessions and places reserved for ones being opened. */
  private places = 0
  private readonly idle: { session: S; since: number }[] = []
  private readonly inUse = new Set<S>()
  private readonly waiters: Waiter<S>[] = []
  private closed = false
  private closing: Promise<void> | null = null
  private onEmpty: () => void = () => undefined

  constructor(options: SessionPoolOptions<S>) {
    this.options = options
  }

  /** Rather one that `suits`. Throws POOL_EXHAUSTED when none becomes free in time, or what opening one threw. */
  async acquire(suits: (session: S) => boolean = () => true): Promise<S> {
    if (this.closed) throw poolClosed()
    const session = this.takeIdle(suits) ?? (await this.placeOrSession())
    if (session) {
      this.inUse.add(session)
      return session
    }
    return this.openInPlace()
  }

  /** Gives back what `acquire` returned. A broken or tainted session is ended instead of kept. */
  release(session: S): void {
    if (!this.inUse.delete(session)) return
    if (session.isBroken) return this.placeFreed()
    if (session.tainted || this.closed) return session.destroy()
    const waiter = this.waiters.shift()
    if (!waiter) {
      this.idle.push({ session, since: this.options.clock.monotonic() })
      return
    }
    this.inUse.add(session)
    waiter.serve(session)
  }

  /** After a lost connection or a failover the others have most likely met the same fate. */
  dropIdle(): void {
    for (const { session } of this.idle.splice(0)) session.destroy()
  }

  /** Idempotent. Sessions in use get a moment to be released, then they are destroyed. */
  close(): Promise<void> {
    this.closed = true
    this.closing ??= this.endAll()
    return this.closing
  }

  private async endAll(): Promise<void> {
    for (const waiter of this.waiters.splice(0)) waiter.fail(poolClosed())
    const goodbyes = this.idle.splice(0).map(({ session }) => session.end(closeGraceMs))
    if (this.inUse.size > 0) {
      const released = new Promise<void>((resolve) => (this.onEmpty = resolve))
      await withDeadline(this.options.clock, closeGraceMs, released, () => new Error('late')).catch(() => undefined)
    }
    for (const session of this.inUse) session.destroy()
    await Promise.all(goodbyes)
  }

  private takeIdle(suits: (session: S) => boolean): S | null {
    const oldest = this.options.clock.monotonic() - maxIdleMs
    // Each leaves the list by itself when it is destroyed, as it does when it breaks.
    for (const { session, since } of [...this.idle]) if (since <= oldest) session.destroy()
    // -1 is the last one: the most recently used.
    const index = this.idle.findLastIndex(({ session }) => suits(session))
    return this.idle.splice(index, 1)[0]?.session ?? null
  }

  private async placeOrSession(): Promise<S | null> {
    if (this.places < this.options.size) {
      this.places += 1
      return null
    }
    let waiter: Waiter<S> | undefined
    const served = new Promise<S | null>((serve, fail) => {
      waiter = { serve, fail }
      this.waiters.push(waiter)
    })
    return withDeadline(this.options.clock, this.options.acquireTimeoutMs, served, () => {
      const index = this.waiters.findIndex((entry) => entry === waiter)
      if (index >= 0) this.waiters.splice(index, 1)
      return exhausted(this.options)
    })
  }

  private async openInPlace(): Promise<S> {
    try {
      const session = await this.options.open()
      if (this.closed) {
        session.destroy()
        throw poolClosed()
      }
      session.onBroken = () => this.sessionBroke(session)
      this.inUse.add(session)
      return session
    } catch (error) {
      this.placeFreed()
      throw error
    }
  }

  /** One in use keeps its place until it is released, so that a place is freed once. */
  private sessionBroke(session: S): void {
    if (this.inUse.has(session)) return
    const index = this.idle.findIndex((entry) => entry.session === session)
    if (index >= 0) this.idle.splice(index, 1)
    this.placeFreed()
  }

  private placeFreed(): void {
    const waiter = this.waiters.shift()
    if (waiter) waiter.serve(null)
    else this.places -= 1
    if (this.inUse.size === 0) this.onEmpty()
  }
}

const poolClosed = (): AppError => new AppError('CONNECTION_LOST', 'operational', 'The connection was closed.')

const exhausted = ({ size, acquireTimeoutMs }: { size: number; acquireTimeoutMs: number }): AppError =>
  new AppError('POOL_EXHAUSTED', 'operational', 'All connections to the server are busy: try again.', {
    details: { size, acquireTimeoutMs }
  })
