import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, silenceMs } from '../kernel/index.ts'
import { fileFaultOf } from '../sqlite-file/index.ts'
import type { FileFault } from '../sqlite-file/index.ts'
import { seriesPerQuery } from './history-port.ts'
import type { History, HistoryOptions, HistoryQuery, HistoryWindow } from './history-port.ts'
import { Combined } from './history-store.ts'
import type { HistoryStore, LastReading, SeriesName, Tick } from './history-store.ts'
import { planBuckets, ruleOf } from './layers.ts'
import type { Buckets, Rule } from './layers.ts'
import { unusable } from './notices.ts'
import { Readings } from './readings.ts'

/** History in a file while the file can be used, else in memory. */
export class FileHistory implements History {
  private readonly options: HistoryOptions
  private readonly inMemory: () => HistoryStore
  /** Read from as long as it can be, also when it no longer takes writes. */
  private file: HistoryStore | undefined
  private memory: HistoryStore | undefined
  /** Removed while the file could not be written. */
  private readonly hidden = new Set<string>()
  private closed = false
  private lastQuery: Promise<unknown> = Promise.resolve()

  constructor(options: HistoryOptions, file: HistoryStore | undefined, inMemory: () => HistoryStore) {
    this.options = options
    this.file = file
    this.inMemory = inMemory
    if (!file) this.memory = inMemory()
  }

  append(tick: Tick): Promise<void> {
    return this.settle(() => {
      const at = Math.round(tick.at)
      if (!Number.isSafeInteger(at) || at < 0) {
        throw new AppError('INVALID_INPUT', 'bug', `A tick needs a time in milliseconds, not ${tick.at}.`)
      }
      this.write((store) => store.append({ ...tick, at }))
      this.write((store) => store.maintain(tick.connectionId, at, this.options.clock.now()))
    })
  }

  /** One at a time, and between two of them everything else has its turn: a long range takes a good part of a second. */
  query(connectionId: string, query: HistoryQuery): Promise<HistoryWindow> {
    const answer = this.lastQuery.then(nextTurn).then(() => this.answer(connectionId, query))
    this.lastQuery = answer.catch(() => undefined)
    return answer
  }

  private answer(connectionId: string, query: HistoryQuery): Promise<HistoryWindow> {
    return this.settle(() => {
      const buckets = planBuckets({ ...query, now: this.options.clock.now() })
      const lines = new Lines(query)
      const readings = new Readings(buckets)
      // The reading before the range tells whether it begins with a gap.
      const range = { from: buckets.first - silenceMs, to: query.to, layer: buckets.layer }
      this.read(connectionId, (store) =>
        store.visit(connectionId, range, (at, name, value, weightMs) => {
          lines.add(name, readings.bucketOf(at), value, weightMs)
        })
      )
      return windowOf(buckets, readings.dueUntil(query.to), lines.byName)
    })
  }

  lastReading(connectionId: string): Promise<LastReading | undefined> {
    return this.settle(() => {
      let newest: LastReading | undefined
      this.read(connectionId, (store) => {
        newest = store.lastReading(connectionId) ?? newest
      })
      return newest
    })
  }

  remove(connectionId: string): Promise<void> {
    return this.settle(() => {
      if (this.memory) this.hidden.add(connectionId)
      this.write((store) => store.remove(connectionId))
      if (this.memory) this.hidden.add(connectionId)
    })
  }

  close(): Promise<void> {
    return this.settle(() => {
      this.closed = true
      this.file?.close()
      this.memory?.close()
      this.file = this.memory = undefined
    })
  }

  /** The port is asynchronous, so that the store can move to a thread of its own. */
  private settle<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => resolve(work()))
  }

  private write(work: (store: HistoryStore) => void): void {
    if (this.closed) return
    if (!this.memory && this.file && this.attempt(this.file, work)) return
    // No second try at the file: a full disk would make each tick fail anew.
    this.memory ??= this.inMemory()
    if (this.attempt(this.memory, work)) return
    this.memory.close()
    this.memory = this.inMemory()
    work(this.memory)
  }

  /** The file first, then what came after it. */
  private read(connectionId: string, work: (store: HistoryStore) => void): void {
    if (this.file && !this.hidden.has(connectionId)) this.attempt(this.file, work)
    if (this.memory) work(this.memory)
  }

  private attempt(store: HistoryStore, work: (store: HistoryStore) => void): boolean {
    try {
      work(store)
      return true
    } catch (error) {
      // Bytes that are not a tick of ours: the pages were whole, what they hold is not.
      const fault = error instanceof RangeError ? 'damaged' : fileFaultOf(error)
      if (!fault) throw error
      if (store === this.file) this.abandonFile(fault, error)
      return false
    }
  }

  private abandonFile(fault: FileFault, error: unknown): void {
    const first = !this.memory
    this.memory ??= this.inMemory()
    if (fault === 'damaged') {
      this.file?.close()
      this.file = undefined
    }
    if (first) this.options.onNotice?.(unusable(fault, error))
  }
}

interface Line extends SeriesName {
  readonly rule: Rule
  /** By bucket; a missing one is unknown. */
  readonly values: (Combined | undefined)[]
}

/** The series of one answer. A range holds up to a million values: what is asked of a name is asked once. */
class Lines {
  readonly byName = new Map<string, Line>()
  /** By the store's own object for the name; null when the series is not wanted. */
  private readonly known = new Map<SeriesName, Line | null>()
  private readonly query: HistoryQuery

  constructor(query: HistoryQuery) {
    this.query = query
  }

  add(name: SeriesName, bucket: number, value: number, weightMs: number): void {
    let line = this.known.get(name)
    if (line === undefined) this.known.set(name, (line = this.lineOf(name)))
    if (line === null || bucket < 0) return
    const combined = line.values[bucket]
    if (combined) combined.add(value, weightMs)
    else line.values[bucket] = new Combined(line.rule, value, weightMs)
  }

  private lineOf(name: SeriesName): Line | null {
    const { metrics, types } = this.query
    if (!(metrics?.includes(name.metric) ?? true) || !(types?.includes(name.type) ?? true)) return null
    const key = `${name.metric} ${name.type}`
    const line = this.byName.get(key) ?? { ...name, rule: ruleOf(name.metric), values: [] }
    this.byName.set(key, line)
    return line
  }
}

function windowOf(buckets: Buckets, indexes: readonly number[], lines: ReadonlyMap<string, Line>): HistoryWindow {
  const ordered = [...lines.values()].sort((a, b) => compare(a.type, b.type) || compare(a.metric, b.metric))
  return {
    times: indexes.map((n) => buckets.first + n * buckets.stepMs),
    stepMs: buckets.stepMs,
    series: ordered.slice(0, seriesPerQuery).map(({ metric, type, values }) => ({
      metric,
      type,
      values: indexes.map((n) => values[n]?.value ?? null)
    }))
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
