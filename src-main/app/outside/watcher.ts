import type { AlertState, ConnectionView, Tick } from '../../contract/index.ts'
import type { Clock } from '../../kernel/index.ts'
import { Diary, type DiaryEntry } from './diary.ts'
import type { SeenQueue } from './seen-queue.ts'

interface Taken {
  readonly tick: Tick
  readonly at: number
}

export interface WatcherOptions {
  readonly clock: Clock
  readonly connections: () => readonly ConnectionView[]
  readonly alerts: (connectionId: string) => AlertState
}

/** What the app shows outside of its page comes from here: the newest of each connection, and a diary of what changed. */
export class Watcher {
  private readonly options: WatcherOptions
  private readonly diary: Diary
  private readonly taken = new Map<string, Taken>()

  constructor(options: WatcherOptions) {
    this.options = options
    this.diary = new Diary(options.clock)
  }

  /** A reading came. */
  take(tick: Tick): void {
    this.taken.set(tick.connectionId, { tick, at: this.options.clock.monotonic() })
    this.diary.noteLimits(tick.connectionId, tick.reading.limits)
  }

  /** A connection came, went, or its link changed. */
  follow(views: readonly ConnectionView[]): void {
    const ids = new Set(views.map(({ id }) => id))
    for (const id of this.taken.keys()) if (!ids.has(id)) this.taken.delete(id)
    this.diary.keepOnly(ids)
    for (const view of views) this.diary.noteLink(view)
  }

  /** Its settings lead to another database from now on. */
  forget(connectionId: string): void {
    this.taken.delete(connectionId)
  }

  seen(): SeenQueue[] {
    return this.options.connections().map((view) => this.seenOf(view))
  }

  seenOf(view: ConnectionView): SeenQueue {
    const { clock, alerts } = this.options
    const taken = this.taken.get(view.id)
    const ageMs = taken ? clock.monotonic() - taken.at : null
    return { view, tick: taken?.tick, ageMs, alerts: alerts(view.id) }
  }

  /** Oldest first; by the app's clock, both ends included. */
  entries(connectionId: string, from: number, to: number): DiaryEntry[] {
    return this.diary.entries(connectionId, from, to)
  }
}
