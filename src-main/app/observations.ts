import { queueReading, type Snapshot, type Tick as PageTick } from '../contract/index.ts'
import type { History, HistoryQuery, HistoryWindow } from '../history/index.ts'
import type { Clock, QueueReading } from '../kernel/index.ts'
import type { Tick } from '../monitoring/index.ts'

/** What is known of one queue from this run. */
interface Observed {
  readonly tick: PageTick
  /** Database clock minus ours: charts run on the database's time, as the tasks do. */
  readonly skewMs: number
}

interface SnapshotRange {
  readonly rangeMs: number
  readonly maxPoints: number
  /** On the database's clock; null or later than now: now. */
  readonly endAt?: number | null
  /** Of these alone; undefined: of all. */
  readonly types?: readonly string[] | undefined
}

/** What history knows of a range that ends now. */
export interface SeenWindow extends HistoryWindow {
  readonly from: number
  readonly to: number
}

/** The readings of this run in memory, and those of all runs in history. */
export class Observations {
  private readonly history: History
  private readonly clock: Clock
  private readonly latest = new Map<string, Observed>()

  constructor(history: History, clock: Clock) {
    this.history = history
    this.clock = clock
  }

  /** Returns what the page gets; history is written behind it and never fails (see its port). */
  take({ connectionId, seq, reading, points }: Tick): PageTick {
    const tick = { connectionId, seq, reading, points: [...points] }
    this.latest.set(connectionId, { tick, skewMs: reading.at - this.clock.now() })
    void this.history.append({ connectionId, at: reading.at, points, readingJson: JSON.stringify(reading) })
    return tick
  }

  /** The newest tick of each connection in this run. */
  ticks(): PageTick[] {
    return [...this.latest.values()].map(({ tick }) => tick)
  }

  reading(connectionId: string): QueueReading | undefined {
    return this.latest.get(connectionId)?.tick.reading
  }

  /** When the newest reading of this or an earlier run was made. */
  async lastKnownAt(connectionId: string): Promise<number | null> {
    return (this.reading(connectionId) ?? (await this.lastReading(connectionId)))?.at ?? null
  }

  async forget(connectionId: string): Promise<void> {
    this.latest.delete(connectionId)
    await this.history.remove(connectionId)
  }

  /** Some series until now, on the database's clock. */
  async window(
    connectionId: string,
    { rangeMs, ...which }: Omit<HistoryQuery, 'from' | 'to'> & { readonly rangeMs: number }
  ): Promise<SeenWindow> {
    const to = this.clock.now() + (this.latest.get(connectionId)?.skewMs ?? 0)
    const from = to - rangeMs
    return { ...(await this.history.query(connectionId, { ...which, from, to })), from, to }
  }

  /** Answers from history alone before the database has answered in this run. */
  async snapshot(connectionId: string, { rangeMs, maxPoints, endAt = null, types }: SnapshotRange): Promise<Snapshot> {
    const observed = this.latest.get(connectionId)
    const now = this.clock.now() + (observed?.skewMs ?? 0)
    const to = Math.min(endAt ?? now, now)
    const from = to - rangeMs
    const { times, stepMs, series } = await this.history.query(connectionId, {
      ...{ from, to, maxPoints },
      ...(types ? { types } : {})
    })
    const reading = observed?.tick.reading ?? (await this.lastReading(connectionId))
    return { connectionId, seq: observed?.tick.seq ?? 0, from, to, stepMs, times, series, reading }
  }

  /** A reading that an older version wrote in another form is as good as none. */
  private async lastReading(connectionId: string): Promise<QueueReading | null> {
    const last = await this.history.lastReading(connectionId)
    if (!last) return null
    try {
      return queueReading.parse(JSON.parse(last.readingJson))
    } catch {
      return null
    }
  }
}
