import type { AlertState, AppEvent, Tick, WorkerLogLine } from '../contract/index.ts'
import { AppError, pause, type Clock } from '../kernel/index.ts'

/** Pages at one time; each has a mailbox of bounded size. */
const maxSubscribers = 32
const maxLogLines = 500
const maxChangedIds = 200
const maxNotices = 20
/**
 * A page gets what it has not read at most this often. Only a socket says when a page is slow, a port between processes never does: this is what
 * makes both join events of a high rate.
 */
const paceMs = 50

/**
 * What happened in the app, for every page that listens. Ticks, alerts, connections and local worker are states: a slow
 * page gets only the newest of each, and the last moment that it is to show. Log lines, changed ids and notices pile up to a limit, then the oldest go.
 */
export class EventHub {
  private readonly mailboxes = new Set<Mailbox>()
  private readonly current: () => AppEvent[]
  private readonly clock: Clock
  private closed = false

  /** `current` is what a page has to know before any change makes sense. */
  constructor(clock: Clock, current: () => AppEvent[]) {
    this.clock = clock
    this.current = current
  }

  get subscribers(): number {
    return this.mailboxes.size
  }

  publish(event: AppEvent): void {
    for (const mailbox of this.mailboxes) mailbox.put(event)
  }

  /** Ends when `signal` aborts or the hub closes. Throws TOO_MANY_CONNECTIONS beyond 32 pages. */
  async *subscribe(signal?: AbortSignal): AsyncGenerator<AppEvent, void> {
    if (this.closed || signal?.aborted) return
    if (this.mailboxes.size >= maxSubscribers)
      throw new AppError('TOO_MANY_CONNECTIONS', 'operational', 'Too many pages are open: close some of them.')
    const mailbox = new Mailbox()
    for (const event of this.current()) mailbox.put(event)
    const onAbort = (): void => mailbox.close()
    signal?.addEventListener('abort', onAbort, { once: true })
    this.mailboxes.add(mailbox)
    try {
      while (await mailbox.filled()) {
        // What comes meanwhile is for the next round: it may still be joined.
        for (let unread = mailbox.size; unread > 0; unread--) {
          const event = mailbox.next()
          if (event) yield event
        }
        await pause(this.clock, paceMs, mailbox.closing)
      }
    } finally {
      this.mailboxes.delete(mailbox)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  close(): void {
    this.closed = true
    for (const mailbox of this.mailboxes) mailbox.close()
  }
}

/** One page's unread events. */
class Mailbox {
  private readonly states = new Map<'connections' | 'localWorker' | 'show', AppEvent>()
  private readonly ticks = new Map<string, Tick>()
  private readonly alerts = new Map<string, AlertState>()
  /** Set of ids by connection; null when there are too many to name. */
  private readonly changed = new Map<string, Set<string> | null>()
  private lines: WorkerLogLine[] = []
  private readonly notices: AppEvent[] = []
  private wake: (() => void) | undefined
  private readonly closer = new AbortController()

  put(event: AppEvent): void {
    switch (event.kind) {
      case 'tick':
        this.ticks.set(event.tick.connectionId, event.tick)
        break
      case 'alerts':
        this.alerts.set(event.alerts.connectionId, event.alerts)
        break
      case 'connections':
      case 'localWorker':
      case 'show':
        this.states.set(event.kind, event)
        break
      case 'workerLog':
        this.lines = [...this.lines, ...event.lines].slice(-maxLogLines)
        break
      case 'tasksChanged':
        this.putChanged(event.connectionId, event.ids)
        break
      case 'notice':
        this.notices.push(event)
        if (this.notices.length > maxNotices) this.notices.shift()
    }
    this.wake?.()
  }

  /** Aborts when the page has left. */
  get closing(): AbortSignal {
    return this.closer.signal
  }

  /** Events that `next` would give now. */
  get size(): number {
    const pieces = this.states.size + this.ticks.size + this.alerts.size + this.changed.size + this.notices.length
    return pieces + (this.lines.length > 0 ? 1 : 0)
  }

  /** Resolves to true once there is something to read, to false when there will be nothing any more. */
  async filled(): Promise<boolean> {
    while (!this.closing.aborted && this.size === 0) await new Promise<void>((resolve) => (this.wake = resolve))
    this.wake = undefined
    return !this.closing.aborted
  }

  close(): void {
    this.closer.abort()
    this.wake?.()
  }

  /** States first. */
  next(): AppEvent | undefined {
    for (const [kind, event] of this.states) {
      this.states.delete(kind)
      return event
    }
    for (const [id, tick] of this.ticks) {
      this.ticks.delete(id)
      return { kind: 'tick', tick }
    }
    for (const [id, alerts] of this.alerts) {
      this.alerts.delete(id)
      return { kind: 'alerts', alerts }
    }
    for (const [connectionId, ids] of this.changed) {
      this.changed.delete(connectionId)
      return { kind: 'tasksChanged', connectionId, ids: ids ? [...ids] : [] }
    }
    if (this.lines.length > 0) {
      const lines = this.lines
      this.lines = []
      return { kind: 'workerLog', lines }
    }
    return this.notices.shift()
  }

  /** No ids means: any task may have changed. That, once said, stays until the page has read it. */
  private putChanged(connectionId: string, ids: readonly string[]): void {
    const known = this.changed.get(connectionId)
    const any = known === null || ids.length === 0
    const all = any ? null : new Set([...(known ?? []), ...ids])
    this.changed.set(connectionId, all && all.size <= maxChangedIds ? all : null)
  }
}
