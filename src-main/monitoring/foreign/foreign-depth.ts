import {
  DepthSum,
  type Accuracy,
  type ProbeName,
  type ProbeRound,
  type QueueReading,
  type SqlRow,
  type SqlValue
} from '../../kernel/index.ts'
import {
  mostCounted,
  type BoundProbe,
  type CompiledProfile,
  type SliceProbes,
  type TypeProbes
} from '../../schema-profiles/index.ts'
import { numberOf, onlyType, typeName } from './row-values.ts'
import type { SearchTime } from './search-time.ts'

/*
 * How many tasks wait or run in a table that is not ours, whatever their number: each slice is counted up to a limit. Of a longer one each type is
 * counted, where an index finds the types one after the other, and what goes beyond is estimated by the server; else there are at least as many as
 * were counted.
 */

/** Types of one slice that are looked at. */
const mostTypes = 300
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
  { nowMs, time }: { readonly nowMs: number; readonly time: SearchTime }
): Promise<ForeignDepth | undefined> {
  const counts: SliceCount[] = []
  for (const slice of slices) {
    const count = await countSlice(round, slice, { nowMs, time })
    if (!count) return undefined
    counts.push(count)
  }
  const sum = new DepthSum()
  const all = new Set(counts.flatMap(({ rows }) => rows.map(({ type }) => typeName(profile, type))))
  for (const { slice, rows, isWhole } of counts) {
    for (const { type, count, accuracy } of rows) sum.add(typeName(profile, type), slice.state, count, accuracy)
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
  readonly accuracy: Accuracy
}

interface SliceCount {
  readonly slice: SliceProbes
  readonly rows: readonly TypeCount[]
  /** All types of the slice are there. */
  readonly isWhole: boolean
}

async function countSlice(
  round: ProbeRound,
  slice: SliceProbes,
  { nowMs, time }: { readonly nowMs: number; readonly time: SearchTime }
): Promise<SliceCount | undefined> {
  const counted = await ask(round, slice.depth(nowMs))
  if (!counted) return undefined
  const isCut = counted.reduce((sum, row) => sum + numberOf(row, 'n'), 0) > slice.mostAtOnce
  const byType = isCut ? await countByType(round, slice, time) : undefined
  if (byType) return byType
  const accuracy = isCut ? 'atLeast' : 'exact'
  const rows = counted.map((row) => ({ type: row['type'] ?? null, count: numberOf(row, 'n'), accuracy }) as const)
  return { slice, rows, isWhole: !isCut }
}

/** Undefined where types cannot be told apart, or the cost guard held it back. */
async function countByType(round: ProbeRound, slice: SliceProbes, time: SearchTime): Promise<SliceCount | undefined> {
  const types = await findTypes(round, slice, { name: 'depthByType', time })
  if (!slice.types || !types) return undefined
  const most = Math.floor(mostCounted / Math.max(1, types.found.length))
  const rows: TypeCount[] = []
  for (let start = 0; start < types.found.length; start += typesAtOnce) {
    const chunk = types.found.slice(start, start + typesAtOnce)
    // One more tells whether there are more.
    const counted = await ask(round, slice.types.counts(chunk, most + 1))
    if (!counted) return undefined
    const found = counted.map((row) => ({
      type: chunk[numberOf(row, 'position')] ?? null,
      count: numberOf(row, 'n')
    }))
    rows.push(...found.filter(({ count }) => count <= most).map((one) => ({ ...one, accuracy: 'exact' }) as const))
    rows.push(
      ...(await estimate(
        round,
        slice.types,
        found.filter(({ count }) => count > most)
      ))
    )
  }
  return { slice, rows, isWhole: types.isWhole }
}

const atLeast = <T extends { readonly count: number }>(one: T): T & { readonly accuracy: Accuracy } => ({
  ...one,
  accuracy: 'atLeast'
})

interface Counted {
  readonly type: SqlValue
  readonly count: number
}

/**
 * Types of which not all was counted. The server is also asked how many rows it expects up to the last one that was counted: that tells by how much it is
 * off, since InnoDB doubles what it finds for long ranges.
 */
async function estimate(round: ProbeRound, { sizes }: TypeProbes, cut: readonly Counted[]): Promise<TypeCount[]> {
  const ends = sizes && cut.length > 0 ? await ask(round, sizes.ends(cut)) : undefined
  const placed = (ends ?? []).flatMap((row) => {
    const counted = cut[numberOf(row, 'position')]
    const since = row['since'] ?? null
    // What has no moment has no place either.
    return counted && since !== null ? [{ ...counted, since, id: row['id'] ?? null }] : []
  })
  const plan = placed.length > 0 ? sizes?.plan(placed) : undefined
  const expected = plan && (await round.expectedRows(plan.probe, plan.values))
  // A branch that the server knows to be empty has no line in its plan.
  if (expected?.length !== 3 * placed.length) return cut.map(atLeast)
  const sized = placed.map(({ type, count }, position): TypeCount => {
    const [all = 0, before = 0, at = 0] = expected.slice(3 * position)
    return { type, count: aboutSize(count, { all, counted: before + at }), accuracy: 'about' }
  })
  const others = cut.filter(({ type }) => !placed.some((one) => one.type === type))
  return [...sized, ...others.map(atLeast)]
}

/** The server's estimate of all, corrected by its estimate of those that were counted. */
export function aboutSize(count: number, expected: { readonly all: number; readonly counted: number }): number {
  const scale = Math.min(4, Math.max(0.25, count / Math.max(1, expected.counted)))
  return Math.max(count, Math.round(expected.all * scale))
}

export interface FoundTypes {
  readonly found: readonly SqlValue[]
  readonly isWhole: boolean
}

/** One dive into the index for each type, for the figure of this name. Undefined where it cannot be done, or the cost guard held it back. */
export async function findTypes(
  round: ProbeRound,
  { types }: SliceProbes,
  { name, time }: { readonly name: ProbeName; readonly time: SearchTime }
): Promise<FoundTypes | undefined> {
  if (!types) return undefined
  const found: SqlValue[] = []
  let rows = await ask(round, types.next(undefined, name))
  for (;;) {
    const [row] = rows ?? []
    if (!row) return rows && { found, isWhole: true }
    const type = row['type'] ?? null
    found.push(type)
    if (found.length >= mostTypes || time.isOver) {
      round.cut({ probe: name, reason: 'budget', index: null })
      return { found, isWhole: false }
    }
    rows = await ask(round, types.next({ type }, name))
  }
}

export const ask = (round: ProbeRound, { probe, values }: BoundProbe): Promise<readonly SqlRow[] | undefined> =>
  round.rows(probe, values)
