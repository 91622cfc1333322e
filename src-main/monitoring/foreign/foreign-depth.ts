import {
  DepthSum,
  type ProbeName,
  type ProbeRound,
  type QueueReading,
  type SqlRow,
  type SqlValue
} from '../../kernel/index.ts'
import { mostCounted, type BoundProbe, type CompiledProfile, type SliceProbes } from '../../schema-profiles/index.ts'
import { numberOf, onlyType, typeName } from './row-values.ts'

/*
 * How many tasks wait or run in a table that is not ours, whatever their number: each slice is counted up to a limit. Of a longer one each type is
 * counted, where an index finds the types one after the other; else there are at least as many as were counted.
 */

/** Types of one slice that are looked at. */
const mostTypes = 300
/** However many types there are, each is counted so far. */
const leastCounted = 1_000
/** Types in one statement. */
export const typesAtOnce = 16

export interface ForeignDepth {
  readonly depth: QueueReading['depth']
  /** The types of each slice, as the column holds them; a slice is missing when not all of them are known. */
  readonly types: ReadonlyMap<SliceProbes, readonly SqlValue[]>
}

/** Undefined when the cost guard held a part of it back. */
export async function readForeignDepth(
  round: ProbeRound,
  { profile, slices }: CompiledProfile,
  nowMs: number
): Promise<ForeignDepth | undefined> {
  const counts: SliceCount[] = []
  for (const slice of slices) {
    const count = await countSlice(round, slice, nowMs)
    if (!count) return undefined
    counts.push(count)
  }
  const sum = new DepthSum()
  const all = new Set(counts.flatMap(({ rows }) => rows.map(({ type }) => typeName(profile, type))))
  for (const { slice, rows, isWhole } of counts) {
    for (const { type, count, isCut } of rows)
      sum.add(typeName(profile, type), slice.state, count, isCut ? 'atLeast' : 'exact')
    if (isWhole) continue
    // Nobody has looked whether there are any of the other types.
    const seen = new Set(rows.map(({ type }) => typeName(profile, type)))
    for (const type of all) if (!seen.has(type)) sum.add(type, slice.state, 0, 'atLeast')
  }
  const known = counts.flatMap(({ slice, rows, isWhole }) => {
    const types = onlyType(profile) ?? (isWhole ? rows.map(({ type }) => type) : undefined)
    return types ? [[slice, types] as const] : []
  })
  return { depth: sum.depth, types: new Map(known) }
}

interface TypeCount {
  readonly type: SqlValue
  readonly count: number
  /** There may be more. */
  readonly isCut: boolean
}

interface SliceCount {
  readonly slice: SliceProbes
  readonly rows: readonly TypeCount[]
  /** All types of the slice are there. */
  readonly isWhole: boolean
}

async function countSlice(round: ProbeRound, slice: SliceProbes, nowMs: number): Promise<SliceCount | undefined> {
  const counted = await ask(round, slice.depth(nowMs))
  if (!counted) return undefined
  const isCut = counted.reduce((sum, row) => sum + numberOf(row, 'n'), 0) > slice.mostAtOnce
  const byType = isCut ? await countByType(round, slice) : undefined
  if (byType) return byType
  const rows = counted.map((row) => ({ type: row['type'] ?? null, count: numberOf(row, 'n'), isCut }))
  return { slice, rows, isWhole: !isCut }
}

/** Undefined where types cannot be told apart, or the cost guard held it back. */
async function countByType(round: ProbeRound, slice: SliceProbes): Promise<SliceCount | undefined> {
  const types = await findTypes(round, slice, 'depthByType')
  if (!slice.types || !types) return undefined
  const most = Math.max(leastCounted, Math.floor(mostCounted / types.found.length))
  const rows: TypeCount[] = []
  for (let start = 0; start < types.found.length; start += typesAtOnce) {
    const chunk = types.found.slice(start, start + typesAtOnce)
    // One more tells whether there are more.
    const counted = await ask(round, slice.types.counts(chunk, most + 1))
    if (!counted) return undefined
    for (const row of counted) {
      const count = numberOf(row, 'n')
      rows.push({ type: chunk[numberOf(row, 'position')] ?? null, count, isCut: count > most })
    }
  }
  return { slice, rows, isWhole: types.isWhole }
}

export interface FoundTypes {
  readonly found: readonly SqlValue[]
  readonly isWhole: boolean
}

/** One dive into the index for each type, for the figure of this name. Undefined where it cannot be done, or the cost guard held it back. */
export async function findTypes(
  round: ProbeRound,
  { types }: SliceProbes,
  name: ProbeName
): Promise<FoundTypes | undefined> {
  if (!types) return undefined
  const found: SqlValue[] = []
  let rows = await ask(round, types.next(undefined, name))
  for (;;) {
    const [row] = rows ?? []
    if (!row) return rows && { found, isWhole: true }
    const type = row['type'] ?? null
    found.push(type)
    if (found.length >= mostTypes) {
      round.cut({ probe: name, reason: 'budget', index: null })
      return { found, isWhole: false }
    }
    rows = await ask(round, types.next({ type }, name))
  }
}

export const ask = (round: ProbeRound, { probe, values }: BoundProbe): Promise<readonly SqlRow[] | undefined> =>
  round.rows(probe, values)
