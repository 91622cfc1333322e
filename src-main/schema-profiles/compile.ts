import type { Probe, ProbeName, SqlValue, TaskState } from '../kernel/index.ts'
import { compileFlow, type FlowProbes } from './compile-flow.ts'
import { slicesOf, type Slice } from './conditions.ts'
import { encodingOf, isLive, isWaiting, typeColumn, type StateMapping, type TableProfile } from './profile.ts'
import {
  conditionOf,
  exactly,
  indexOn,
  joined,
  nothing,
  part,
  quoted,
  quotedTable,
  type Part
} from './statement-parts.ts'
import { forced, type TableIndex } from './table-indexes.ts'
import type { TimeEncoding } from './time-encoding.ts'

/** Rows of a slice that are counted in one statement; with more, types are counted one by one where an index can tell them apart. */
const mostCountedAtOnce = 10_000
/** Rows of a slice that are counted, whatever its types. */
export const mostCounted = 50_000

const unionAll = '\nUNION ALL\n'

/** A probe, and what is bound in it. */
export interface BoundProbe {
  readonly probe: Probe
  readonly values: readonly SqlValue[]
}

/** The probes of one part of a live state. Moments are milliseconds since the epoch, of the database's clock. */
export interface SliceProbes {
  readonly state: TaskState
  /** Of the profile. */
  readonly stateName: string
  /** Counts by type, as `type` and `n`, of at most `mostAtOnce` rows and one more. */
  depth(nowMs: number): BoundProbe
  readonly mostAtOnce: number
  /** Undefined where types lie mixed in every index, or there is only one. */
  readonly types: TypeProbes | undefined
  /** Undefined where a task does not wait, or the profile does not say since when. */
  readonly oldest: OldestProbes | undefined
}

/** Finds the types of a slice one after the other, and counts each. */
export interface TypeProbes {
  /** The first type, as `type`; after `null`, after a type. For the figure of this name. */
  next(after: { readonly type: SqlValue } | undefined, name: ProbeName): BoundProbe
  /** Rows of each type as `position` and `n`, up to `most` of each. */
  counts(types: readonly SqlValue[], most: number): BoundProbe
  /** Undefined without an index that ends in `since`, or where `id` is not the primary key. */
  readonly sizes: SizeProbes | undefined
}

/** What the size of a type is estimated by, beyond what is counted. */
export interface SizeProbes {
  /** The last of the first `count` rows of each type by `since` and id, as `position`, `since` and `id`. */
  ends(types: readonly { readonly type: SqlValue; readonly count: number }[]): BoundProbe
  /** Never run: its plan has three estimates for each type: of all its rows, of those before `since`, of those at it up to `id`. */
  plan(types: readonly CountedType[]): BoundProbe
}

/** A type of which more rows were met than are counted, and the last of these. */
export interface CountedType {
  readonly type: SqlValue
  readonly since: SqlValue
  readonly id: SqlValue
}

export interface OldestProbes {
  readonly since: string
  readonly encoding: TimeEncoding
  readonly index: string
  /** The task of each type that comes first by `since`, as `position`, `id` and `since`; NULL comes first. */
  heads(types: readonly SqlValue[], nowMs: number): BoundProbe
}

export interface CompiledProfile extends FlowProbes {
  readonly profile: TableProfile
  readonly slices: readonly SliceProbes[]
}

/**
 * What the probes of a profile say in SQL, with the indexes that the table has. Each slice has texts of its own: a plan that is remembered for
 * one is no word on another.
 */
export function compileProfile(profile: TableProfile, indexes: readonly TableIndex[]): CompiledProfile {
  const live = profile.states.filter(({ state }) => isLive(state))
  const slices = live.flatMap((mapping) =>
    slicesOf(mapping.when).map((slice, index) =>
      new CompiledSlice({ profile, indexes }, mapping, { slice, index }).probes()
    )
  )
  return { profile, slices, ...compileFlow(profile, indexes) }
}

interface Table {
  readonly profile: TableProfile
  readonly indexes: readonly TableIndex[]
}

class CompiledSlice {
  private readonly profile: TableProfile
  private readonly mapping: StateMapping
  private readonly slice: Slice
  private readonly condition: Part
  /** Undefined when all tasks are of one type. */
  private readonly type: string | undefined
  private readonly label: string
  /** Has the index that serves counts by type and the oldest of each. */
  private readonly byType: string
  /** That index puts rows in order by their ids too, where these are the primary key: each has a place. */
  private readonly hasPlaces: boolean
  /** Has the index in which all that fits is one range, where a single condition is loose. */
  private readonly byLoose: string

  constructor({ profile, indexes }: Table, mapping: StateMapping, { slice, index }: { slice: Slice; index: number }) {
    this.profile = profile
    this.mapping = mapping
    this.slice = slice
    this.condition = conditionOf(profile, slice)
    this.type = typeColumn(profile)
    this.label = `${mapping.name}_${index}`
    const then = [this.type, mapping.since].filter((column) => column !== undefined)
    const equal = slice.equal.map(({ column }) => column)
    this.byType = forced(indexes, equal, then)
    const isPrimary = indexes.some(({ name, columns }) => name === 'PRIMARY' && isOnly(columns, profile.id))
    this.hasPlaces = this.byType !== '' && isPrimary
    const [loose, ...more] = slice.loose
    this.byLoose = loose && more.length === 0 ? forced(indexes, equal, [loose.column]) : ''
  }

  probes(): SliceProbes {
    const types = this.type !== undefined && this.slice.loose.length === 0 ? this.typeProbes(this.type) : undefined
    const mostAtOnce = types ? mostCountedAtOnce : mostCounted
    return {
      state: this.mapping.state,
      stateName: this.mapping.name,
      mostAtOnce,
      depth: (nowMs) => this.depth(mostAtOnce, nowMs),
      types,
      oldest: isWaiting(this.mapping.state) ? this.oldestProbes(this.mapping.since) : undefined
    }
  }

  private depth(most: number, nowMs: number): BoundProbe {
    const type = this.type === undefined ? '1' : `${quoted(this.type)} AS type`
    const hint = this.slice.loose.length === 0 ? this.byType : this.byLoose
    const readsPastLimit = this.slice.loose.length > 0 && hint === ''
    const counted = this.rows(`SELECT ${type}`, [part(`LIMIT ${most + 1}`)], hint)
    const [select, group] = this.type === undefined ? ['', ''] : ['type, ', ' GROUP BY type']
    const sql = `SELECT ${select}COUNT(*) AS n FROM (${counted.sql}) AS ${quoted(this.label)}${group}`
    return this.probe('depth', { sql, values: counted.values }, { index: this.depthIndex(), readsPastLimit, nowMs })
  }

  private typeProbes(type: string): TypeProbes {
    const column = quoted(type)
    const index = this.byTypeIndex()
    const counted = (value: SqlValue, position: number, most: number): Part => {
      const rows = this.rows('SELECT 1', [part('AND'), exactly(type, value), part('LIMIT ?', most)])
      const alias = quoted(`${this.label}_${position}`)
      return { ...rows, sql: `SELECT ${position} AS position, COUNT(*) AS n FROM (${rows.sql}) AS ${alias}` }
    }
    return {
      next: (after, name) => {
        const rest = [behind(column, after), part(`ORDER BY ${column} LIMIT 1`)]
        return this.probe(name, this.rows(`SELECT ${column} AS type`, rest), { index, readsIndexOnly: true })
      },
      counts: (types, most) => {
        const branches = types.map((value, position) => counted(value, position, most))
        return this.probe('depthByType', joined(branches, unionAll), { index, readsIndexOnly: true })
      },
      sizes: this.hasPlaces && this.mapping.since !== undefined ? this.sizeProbes(type, this.mapping.since) : undefined
    }
  }

  private sizeProbes(type: string, sinceColumn: string): SizeProbes {
    const index = this.byTypeIndex()
    const [since, id] = [quoted(sinceColumn), quoted(this.profile.id)]
    return {
      ends: (types) => {
        const branches = types.map((one, position) => {
          const select = `SELECT ${position} AS position, ${since} AS since, ${id} AS id`
          const order = part(`ORDER BY ${since}, ${id} LIMIT 1 OFFSET ?`, one.count - 1)
          const row = this.rows(select, [part('AND'), exactly(type, one.type), order])
          return { ...row, sql: `(${row.sql})` }
        })
        return this.probe('depthByType', joined(branches, unionAll), { index, readsIndexOnly: true })
      },
      plan: (types) => {
        const branches = types.flatMap((one) =>
          [
            nothing,
            part(`AND ${since} < ?`, one.since),
            part(`AND ${since} = ? AND ${id} <= ?`, one.since, one.id)
          ].map((range) => this.rows('SELECT 1', [part('AND'), exactly(type, one.type), range]))
        )
        return this.probe('depthByType', joined(branches, unionAll), { index })
      }
    }
  }

  private oldestProbes(since: string | undefined): OldestProbes | undefined {
    if (since === undefined) return undefined
    const index = this.byTypeIndex()
    const readsPastLimit = this.slice.loose.length > 0
    const branch = (value: SqlValue, position: number): Part => {
      const ofType = this.type === undefined ? nothing : joined([part('AND'), exactly(this.type, value)], ' ')
      const select = `SELECT ${position} AS position, ${quoted(this.profile.id)} AS id, ${quoted(since)} AS since`
      const row = this.rows(select, [ofType, part(`ORDER BY ${quoted(since)} LIMIT 1`)])
      return { ...row, sql: `(${row.sql})` }
    }
    return {
      since,
      encoding: encodingOf(this.profile, since),
      index,
      heads: (types, nowMs) =>
        this.probe('oldest', joined(types.map(branch), unionAll), { index, readsPastLimit, nowMs })
    }
  }

  private rows(select: string, rest: readonly Part[], hint = this.byType): Part {
    const table = `${quotedTable(this.profile.table)}${hint}`
    return joined([part(`${select} FROM ${table} WHERE`), this.condition, ...rest], ' ')
  }

  /** Serves counts by type, and the oldest of each. */
  private byTypeIndex(): string {
    return indexOn(this.profile.table, [...this.slice.equal.map(({ column }) => column), this.type, this.mapping.since])
  }

  private depthIndex(): string {
    const { equal, loose } = this.slice
    if (loose.length === 0) return this.byTypeIndex()
    const columns = [...equal, ...loose].map(({ column }) => column)
    return indexOn(this.profile.table, [...columns, this.type])
  }

  private probe(
    name: ProbeName,
    { sql, values }: Part,
    { nowMs = 0, ...facts }: Pick<Probe, 'index' | 'readsIndexOnly' | 'readsPastLimit'> & { readonly nowMs?: number }
  ): BoundProbe {
    const probe = { name, sql: `/* ${this.label} */ ${sql}`, tables: [this.profile.table], ...facts }
    return { probe, values: values(nowMs) }
  }
}

/** NULL comes before all else. */
function behind(column: string, after: { readonly type: SqlValue } | undefined): Part {
  if (after === undefined) return nothing
  return after.type === null ? part(`AND ${column} IS NOT NULL`) : part(`AND ${column} > ?`, after.type)
}

const isOnly = ([only, ...others]: readonly string[], name: string): boolean =>
  others.length === 0 && only?.toLowerCase() === name.toLowerCase()
