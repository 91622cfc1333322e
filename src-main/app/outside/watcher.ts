import type { AlertState, AppEvent, ConnectionView, Tick } from '../../contract/index.ts'
import type { Clock } from '../../kernel/index.ts'
import { Diary, type DiaryEntry } from './diary.ts'
import type { SeenQueue } from './seen-queue.ts'

interface Taken {
  readonly tick: Tick
  readonly at: number
}

export interface WatcherOptions {
  readonly clock: Clock
  /** The events of the app, as a page gets them. */
  readonly events: (signal: AbortSignal) => AsyncIterable<AppEvent>
  readonly connections: () => readonly ConnectionView[]
}

/** What the app shows outside of its page comes from here: the newest of each connection, and a diary of what changed. */
export class Watcher {
  private readonly options: WatcherOptions
  private readonly diary: Diary
  private readonly taken = new Map<string, Taken>()
  private readonly alerts = new Map<string, AlertState>()
  private run: { readonly stopper: AbortController; readonly ended: Promise<void> } | undefined

  constructor(options: WatcherOptions) {
    this.options = options
    this.diary = new Diary(options.clock)
  }

  /** Does nothing while it runs. */
  start(): void {
    if (this.run) return
    const stopper = new AbortController()
    this.run = { stopper, ended: this.listen(stopper.signal) }
  }

  async stop(): Promise<void> {
    this.run?.stopper.abort()
    await this.run?.ended
  }

  seen(): SeenQueue[] {
    const { clock, connections } = this.options
    const now = clock.monotonic()
    return connections().map((view) => {
      const taken = this.taken.get(view.id)
      return { view, tick: taken?.tick, ageMs: taken ? now - taken.at : null, alerts: this.alerts.get(view.id) }
    })
  }

  entries(connectionId: string, from: number, to: number): DiaryEntry[] {
    return this.diary.entries(connectionId, from, to)
  }

  private async listen(signal: AbortSignal): Promise<void> {
    for await (const event of this.options.events(signal)) this.take(event)
  }

  private take(event: AppEvent): void {
    switch (event.kind) {
      case 'tick':
        this.taken.set(event.tick.connectionId, { tick: event.tick, at: this.options.clock.monotonic() })
        this.diary.noteLimits(event.tick.connectionId, event.tick.reading.limits)
        break
      case 'alerts':
        this.alerts.set(event.alerts.connectionId, event.alerts)
        break
      case 'connections':
        this.keepOnly(event.connections)
        for (const view of event.connections) this.diary.noteLink(view)
    }
  }

  /** What is gone, or leads to another database now, has no figures: the id may come again. */
  private keepOnly(views: readonly ConnectionView[]): void {
    const ids = new Set(views.map(({ id }) => id))
    for (const known of [this.taken, this.alerts]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    this.diary.keepOnly(ids)
  }
}
