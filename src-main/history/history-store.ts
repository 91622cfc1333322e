import type Database from 'better-sqlite3'
import type { Point } from '../kernel/index.ts'
import { layers, ruleOf } from './layers.ts'
import type { Rule } from './layers.ts'
import { prepareStatements } from './statements.ts'
import { decodeTick, encodeTick } from './tick-codec.ts'
import type { SeriesValue } from './tick-codec.ts'

/** Explicit limits: a database that is watched may hold any number of types. */
const historyLimits = {
  /** Series kept for one connection; points of further ones are dropped. */
  seriesPerConnection: 2_000,
  readingBytes: 2_097_152,
  /** Rows of each layer made beside one tick. */
  rollUpsPerTick: 2,
  /** Rows deleted of one layer beside one tick. */
  deletesPerTick: 100,
  /** Nothing expires until so many ticks came without a jump of the clock: a clock that is wrong for a moment deletes nothing. */
  steadyTicks: 30,
  jumpMs: 600_000,
  /** Above this share of its greatest size the file sheds its oldest rows. */
  shedAbove: 0.9
} as const

export interface Tick {
  readonly connectionId: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly points: readonly Point[]
  /** The whole reading as JSON text; the last one is kept. */
  readonly readingJson: string
}

export interface SeriesName {
  readonly metric: string
  readonly type: string
}

export interface LastReading {
  readonly at: number
  readonly readingJson: string
}

/** What a reading weighs beside roll-ups; its true distance to the next one is near it. */
const usualIntervalMs = 2_000

interface Connection {
  readonly id: number
  /** Per layer: up to here it has been made from the finer one. That of layer 0 is not used. */
  readonly rolledTo: number[]
  readonly series: Map<string, number>
  readonly names: Map<number, SeriesName>
  /** Of this run: the last tick, and how many came since the clock jumped. */
  lastAt: number
  steadyTicks: number
}

/** `weightMs` is the time for which the value stands. */
type Visit = (at: number, series: SeriesName, value: number, weightMs: number) => void

/** One SQLite database of ticks and their roll-ups. Every method is synchronous and throws the driver's errors. */
export class HistoryStore {
  private readonly db: Database.Database
  private readonly statements: ReturnType<typeof prepareStatements>
  private readonly connections = new Map<string, Connection>()

  constructor(db: Database.Database) {
    this.db = db
    this.statements = prepareStatements(db)
  }

  /** Stores one tick in a transaction of its own. A second tick for the same instant replaces the first. */
  append(tick: Tick): void {
    this.write(() => {
      const connection = this.connection(tick.connectionId) ?? this.addConnection(tick.connectionId)
      const values = tick.points.flatMap((point) => this.valueOf(connection, point))
      this.statements.putSample.run(connection.id, 0, tick.at, encodeTick(values))
      if (Buffer.byteLength(tick.readingJson) <= historyLimits.readingBytes) {
        this.statements.putReading.run(connection.id, tick.at, tick.readingJson)
      }
      this.reopenRollUps(connection, tick.at)
    })
  }

  /**
   * The small step of upkeep that belongs to one tick: rolls up, deletes what is past its time, sheds when the file is
   * nearly full. `now` is the local clock; the earlier of both decides what is old, so that one clock alone that jumps
   * ahead deletes nothing.
   */
  maintain(connectionId: string, at: number, now: number): void {
    this.write(() => {
      const connection = this.connection(connectionId)
      if (!connection) return
      for (let n = 0; n < historyLimits.rollUpsPerTick; n++) {
        for (let layer = 1; layer < layers.length; layer++) this.rollUp(connection, layer, at)
      }
      if (isSteady(connection, at)) {
        for (let layer = 0; layer < layers.length; layer++) this.expire(connection, layer, Math.min(at, now))
      }
      this.purgeRemoved()
      this.shed()
    })
  }

  /**
   * Visits the values of [from, to] in layer `layer`, and in finer ones where that layer has no row yet. In order of
   * time within a layer, coarse first.
   */
  visit(connectionId: string, range: { from: number; to: number; layer: number }, visit: Visit): void {
    const connection = this.connection(connectionId)
    if (!connection) return
    const covered: Set<number>[] = layers.map(() => new Set())
    let from = range.from
    for (let layer = range.layer; layer >= 0; layer--) {
      for (const [at, data] of this.samples(connection.id, layer, from, range.to)) {
        if (layers.some(({ stepMs }, n) => n > layer && covered[n]?.has(floorTo(at, stepMs)))) continue
        if (layer > 0) covered[layer]?.add(at)
        const weightMs = layers[layer]?.stepMs || usualIntervalMs
        decodeTick(data, (series, value) => {
          const name = connection.names.get(series)
          if (name) visit(at, name, value, weightMs)
        })
      }
      from = Math.max(from, connection.rolledTo[layer] ?? from)
    }
  }

  lastReading(connectionId: string): LastReading | undefined {
    return this.statements.getReading.get(connectionId) as LastReading | undefined
  }

  /** Takes it out of sight at once; its rows are deleted in small steps later. */
  remove(connectionId: string): void {
    this.write(() => {
      const connection = this.connection(connectionId)
      if (!connection) return
      this.statements.markRemoved.run(connection.id)
      this.statements.dropReading.run(connection.id)
      this.statements.dropSeries.run(connection.id)
      this.statements.dropRolledTo.run(connection.id)
      this.statements.dropConnection.run(connection.id)
      this.connections.delete(connectionId)
      this.purgeRemoved()
    })
  }

  close(): void {
    this.db.close()
  }

  private write(work: () => void): void {
    try {
      this.db.transaction(work).immediate()
    } catch (error) {
      this.connections.clear() // what they remember may have been rolled back
      throw error
    }
  }

  private connection(name: string): Connection | undefined {
    const known = this.connections.get(name)
    if (known) return known
    const id = this.statements.getConnection.get(name) as number | undefined
    if (id === undefined) return undefined
    const connection = newConnection(id)
    for (const { stepMs, upTo } of this.statements.getRolledTo.all(id) as { stepMs: number; upTo: number }[])
      connection.rolledTo[layers.findIndex((layer) => layer.stepMs === stepMs)] = upTo
    for (const { id: series, metric, type } of this.statements.getSeries.all(id) as ({ id: number } & SeriesName)[]) {
      connection.series.set(seriesKey(metric, type), series)
      connection.names.set(series, { metric, type })
    }
    this.connections.set(name, connection)
    return connection
  }

  private addConnection(name: string): Connection {
    const id = Number(this.statements.addConnection.run(name).lastInsertRowid)
    const connection = newConnection(id)
    this.connections.set(name, connection)
    return connection
  }

  private valueOf(connection: Connection, { metric, type, value }: Point): SeriesValue[] {
    if (!Number.isFinite(value)) return []
    const key = seriesKey(metric, type)
    const known = connection.series.get(key)
    if (known !== undefined) return [{ series: known, value }]
    if (connection.series.size >= historyLimits.seriesPerConnection) return []
    const series = Number(this.statements.addSeries.run(connection.id, metric, type).lastInsertRowid)
    connection.series.set(key, series)
    connection.names.set(series, { metric, type })
    return [{ series, value }]
  }

  /** A clock that jumped back writes into minutes that were rolled up already: they are made again. */
  private reopenRollUps(connection: Connection, at: number): void {
    for (let layer = 1; layer < layers.length; layer++) {
      const reopened = floorTo(at, layers[layer]?.stepMs ?? 0)
      if (reopened < (connection.rolledTo[layer] ?? 0)) this.saveRolledTo(connection, layer, reopened)
    }
  }

  /** Makes the next bucket of `layer` whose time is over; does nothing when there is none. */
  private rollUp(connection: Connection, layer: number, at: number): void {
    const stepMs = layers[layer]?.stepMs ?? 0
    const finer = layer - 1
    const from = connection.rolledTo[layer] ?? 0
    // A row of a wider layer is due when those that it is made of have been made.
    const until = floorTo(finer === 0 ? at : Math.min(at, connection.rolledTo[finer] ?? 0), stepMs)
    const next = this.statements.firstTime.get(connection.id, layers[finer]?.stepMs, from, until) as number | null
    if (next === null) return
    const start = floorTo(next, stepMs)
    const values = this.combine(connection, finer, start, start + stepMs - 1)
    this.statements.putSample.run(connection.id, stepMs, start, encodeTick(values))
    this.saveRolledTo(connection, layer, start + stepMs)
  }

  private combine(connection: Connection, layer: number, from: number, to: number): SeriesValue[] {
    const combined = new Map<number, Combined>()
    for (const [, data] of this.samples(connection.id, layer, from, to)) {
      decodeTick(data, (series, value) => {
        const known = combined.get(series)
        if (known) known.add(value)
        else combined.set(series, new Combined(ruleOf(connection.names.get(series)?.metric ?? ''), value))
      })
    }
    return [...combined].map(([series, { value }]) => ({ series, value }))
  }

  private saveRolledTo(connection: Connection, layer: number, to: number): void {
    connection.rolledTo[layer] = to
    this.statements.saveRolledTo.run(connection.id, layers[layer]?.stepMs, to)
  }

  private expire(connection: Connection, layer: number, now: number): void {
    const rolledTo = layer + 1 < layers.length ? (connection.rolledTo[layer + 1] ?? 0) : Infinity
    const before = Math.min(now - (layers[layer]?.keepMs ?? 0), rolledTo)
    this.deleteOldest(connection.id, layer, before)
  }

  private purgeRemoved(): void {
    const connection = this.statements.nextRemoved.get() as number | undefined
    if (connection === undefined) return
    const deleted = layers.map((_, layer) => this.deleteOldest(connection, layer, Number.MAX_SAFE_INTEGER))
    if (deleted.every((count) => count === 0)) this.statements.purged.run(connection)
  }

  /** Readings go first: they have been rolled up, so only detail is lost. */
  private shed(): void {
    const pragma = (name: string): number => Number(this.db.pragma(name, { simple: true }))
    const used = pragma('page_count') - pragma('freelist_count')
    if (used < pragma('max_page_count') * historyLimits.shedAbove) return
    for (let layer = 0; layer < layers.length; layer++) {
      const largest = this.statements.largest.get(layers[layer]?.stepMs) as { id: number; count: number } | undefined
      if (!largest || largest.count < historyLimits.deletesPerTick) continue
      this.deleteOldest(largest.id, layer, Number.MAX_SAFE_INTEGER)
      return
    }
  }

  private deleteOldest(connection: number, layer: number, before: number): number {
    if (before <= 0) return 0
    return this.statements.deleteOldest.run(connection, layers[layer]?.stepMs, before, historyLimits.deletesPerTick)
      .changes
  }

  private samples(connection: number, layer: number, from: number, to: number): IterableIterator<[number, Buffer]> {
    const rows = this.statements.getSamples.iterate(connection, layers[layer]?.stepMs, from, to)
    return rows as IterableIterator<[number, Buffer]>
  }
}

/** Values that become one by the rule of their metric; an average is weighted. */
export class Combined {
  private readonly rule: Rule
  private current: number
  private weight: number

  constructor(rule: Rule, first: number, weight = 1) {
    this.rule = rule
    this.current = first
    this.weight = weight
  }

  add(value: number, weight = 1): void {
    if (this.rule === 'last') this.current = value
    if (this.rule === 'max') this.current = Math.max(this.current, value)
    if (this.rule !== 'average') return
    this.weight += weight
    this.current += ((value - this.current) * weight) / this.weight
  }

  get value(): number {
    return this.current
  }
}

const newConnection = (id: number): Connection => ({
  id,
  rolledTo: layers.map(() => 0),
  series: new Map(),
  names: new Map(),
  lastAt: 0,
  steadyTicks: 0
})

function isSteady(connection: Connection, at: number): boolean {
  const jumped = Math.abs(at - connection.lastAt) > historyLimits.jumpMs
  connection.lastAt = at
  connection.steadyTicks = jumped ? 0 : connection.steadyTicks + 1
  return connection.steadyTicks >= historyLimits.steadyTicks
}

const floorTo = (at: number, stepMs: number): number => (stepMs === 0 ? at : Math.floor(at / stepMs) * stepMs)
const seriesKey = (metric: string, type: string): string => `${metric} ${type}`
