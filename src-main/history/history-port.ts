import type { AppError, Clock } from '../kernel/index.ts'
import type { LastReading, SeriesName, Tick } from './history-store.ts'

export interface HistoryQuery {
  /** Milliseconds since the epoch, both ends included. */
  readonly from: number
  readonly to: number
  /** At most this many times; at least 10. */
  readonly maxPoints: number
  /** Only these; all when left out. */
  readonly metrics?: readonly string[]
  readonly types?: readonly string[]
}

export interface HistorySeries extends SeriesName {
  /** One for each time; null is unknown: nothing was read then. */
  readonly values: (number | null)[]
}

export interface HistoryWindow {
  /** Starts of the buckets; one in which nothing was due to be read (`silenceMs`) is left out. */
  readonly times: number[]
  readonly stepMs: number
  /** The whole queue ('') first, then by type. At most `seriesPerQuery`. */
  readonly series: HistorySeries[]
}

/** Series in one answer; further types are left out, the whole queue never. */
export const seriesPerQuery = 1_000

/**
 * The app's own memory of the queues it watches; it may be lost at any time without harm. No method throws because of
 * the file: when it can no longer be used, history goes on in memory and says so once through `onNotice`.
 */
export interface History {
  append(tick: Tick): Promise<void>
  query(connectionId: string, query: HistoryQuery): Promise<HistoryWindow>
  /** The newest reading of this or an earlier run. */
  lastReading(connectionId: string): Promise<LastReading | undefined>
  remove(connectionId: string): Promise<void>
  close(): Promise<void>
}

export interface HistoryOptions {
  readonly file: string
  readonly clock: Clock
  /** The folder `migrations/cache`. */
  readonly migrationsDir: string
  /** Greatest size of the file; its oldest rows make room. Default 256 MiB. */
  readonly maxBytes?: number
  /** Told when the file fails while the app runs. */
  readonly onNotice?: (notice: AppError) => void
}
