import { mostFlowRows, type Probe, type ProbeName, type SqlValue, type TaskState } from '../kernel/index.ts'
import { slicesOf } from './conditions.ts'
import { encodingOf, isEnd, typeColumn, type StateMapping, type TableProfile } from './profile.ts'
import { conditionOf, indexOn, joined, part, quoted, quotedTable, type Part } from './statement-parts.ts'
import { forced, type TableIndex } from './table-indexes.ts'
import { encodeTime, type TimeEncoding } from './time-encoding.ts'

/** A stretch of time: after `fromMs`, up to and with `uptoMs` (ms since the epoch). */
export interface Stretch {
  readonly fromMs: number
  readonly uptoMs: number
}

/**
 * The newest rows of a stretch by one column that holds a moment: `type`, `outcome`, how many as `n`, and the first moment among them as
 * `earliest`. `outcome` is a place in `outcomes`, -1 for a row of none of these states.
 */
export interface FlowProbe {
  readonly encoding: TimeEncoding
  readonly outcomes: readonly TaskState[]
  of(name: ProbeName, stretch: Stretch): { readonly probe: Probe; readonly values: readonly SqlValue[] }
}

export interface FlowProbes {
  /** Undefined where the table does not say. */
  readonly submitted: FlowProbe | undefined
  /** One for each column in which ends have their time; none where the table does not keep both what succeeded and what failed. */
  readonly ended: readonly FlowProbe[]
}

/** Whether a task that succeeded is still there: else what is left of the newest tasks says nothing of how many came in or got done. */
export const keepsSuccesses = ({ states }: TableProfile): boolean => states.some(({ state }) => state === 'SUCCESS')

/** Ends whose moment is known, if all that makes a failure rate is among them. */
export function knownEnds({ states }: TableProfile): StateMapping[] {
  const known = states.filter(({ state, since }) => isEnd(state) && since !== undefined)
  const has = (wanted: TaskState): boolean => known.some(({ state }) => state === wanted)
  return has('SUCCESS') && has('FAILED') ? known : []
}

export function compileFlow(profile: TableProfile, indexes: readonly TableIndex[]): FlowProbes {
  const ends = knownEnds(profile)
  const columns = [...new Set(ends.flatMap(({ since }) => since ?? []))]
  return {
    submitted:
      profile.created !== undefined && keepsSuccesses(profile)
        ? flowProbe({ profile, indexes }, profile.created, [])
        : undefined,
    ended: columns.map((column) =>
      flowProbe(
        { profile, indexes },
        column,
        ends.filter(({ since }) => since === column)
      )
    )
  }
}

interface Table {
  readonly profile: TableProfile
  readonly indexes: readonly TableIndex[]
}

function flowProbe({ profile, indexes }: Table, column: string, ends: readonly StateMapping[]): FlowProbe {
  const encoding = encodingOf(profile, column)
  const type = typeColumn(profile)
  const told = ends.flatMap(({ when }) => when.map((one) => one.column))
  const index = indexOn(profile.table, [column, ...told, type])
  const behind = [...new Set([...told, ...(type === undefined ? [] : [type])])].filter((one) => one !== column)
  const hint = forced(indexes, [column], behind) || forced(indexes, [column], [])
  const at = quoted(column)
  const rows = joined(
    [
      part(`SELECT ${type === undefined ? "''" : quoted(type)} AS type,`),
      outcomePart(profile, ends),
      part(`AS outcome, ${at} AS moment FROM ${quotedTable(profile.table)}${hint} WHERE ${at} > ? AND ${at} <= ?`),
      part(`ORDER BY ${at} DESC LIMIT ${mostFlowRows}`)
    ],
    ' '
  )
  const sql = `SELECT type, outcome, COUNT(*) AS n, MIN(moment) AS earliest FROM (${rows.sql}) AS newest GROUP BY type, outcome`
  return {
    encoding,
    outcomes: ends.map(({ state }) => state),
    of: (name, { fromMs, uptoMs }) => ({
      probe: { name, sql, tables: [profile.table], index },
      values: [...rows.values(uptoMs), encodeTime(encoding, fromMs), encodeTime(encoding, uptoMs)]
    })
  }
}

function outcomePart(profile: TableProfile, ends: readonly StateMapping[]): Part {
  if (ends.length === 0) return part('0')
  const branches = ends.map(({ when }, place) => {
    const fits = joined(
      slicesOf(when).map((slice) => {
        const all = conditionOf(profile, slice)
        return { ...all, sql: `(${all.sql})` }
      }),
      ' OR '
    )
    return { ...fits, sql: `WHEN ${fits.sql} THEN ${place}` }
  })
  return joined([part('CASE'), ...branches, part('ELSE -1 END')], ' ')
}
