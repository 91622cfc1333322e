import type { Probe, ProbeRound, QueueReading, SqlRow, SqlValue, TaskState } from '../../kernel/index.ts'
import { DepthSum } from '../reading-figures.ts'
import * as probes from './probes.ts'
import { count, text } from './row-values.ts'
import { chunksOf, paddedLength } from './statement-text.ts'

/*
 * How many tasks wait, however many there are. A short queue is counted whole. A long one is counted group by group (priority and type), each up to
 * a limit; what goes beyond is the server's estimate of the range, told apart by state from both ends of its due and of its future part.
 */

/** Priorities and types that have waiting tasks, and are looked at. */
export const mostGroups = 300
/** Entries of the claim's index that one group, and all groups together, are counted up to. */
const mostCounted = { group: 50_000, all: 100_000 } as const
/** However many groups there are, each is counted so far. */
const leastCounted = 1_000
/** Entries at either end of a part by which its states are told apart. */
const sampled = { oldest: 10_000, newest: 2_000 } as const
/** Groups in one statement. */
const groupsAtOnce = 8

export interface Group {
  readonly rank: number
  readonly type: string
}

export interface Depth {
  readonly depth: QueueReading['depth']
  /** Those of tasks that a claim would take, with tasks due or not. */
  readonly claimable: readonly Group[]
  /** There are more groups than were looked at. */
  readonly isCut: boolean
}

/** Undefined when the cost guard held a part of it back. */
export async function readDepth(round: ProbeRound): Promise<Depth | undefined> {
  const sum = new DepthSum()
  if (!(await addLeased(round, sum))) return undefined
  const [expected] = (await round.expectedRows(probes.waitingDepth)) ?? []
  if (expected === undefined) return undefined
  return expected <= probes.mostCountedAtOnce ? countAtOnce(round, sum) : countByGroup(round, sum)
}

async function countAtOnce(round: ProbeRound, sum: DepthSum): Promise<Depth | undefined> {
  const waiting = await round.rows(probes.waitingDepth)
  if (!waiting) return undefined
  for (const row of waiting) sum.add(text(row, 'type'), state(row), count(row, 'n'))
  const groups = new Map(waiting.map((row) => [`${count(row, 'claim_rank')} ${text(row, 'type')}`, toGroup(row)]))
  return { depth: sum.depth, claimable: [...groups.values()].filter(isClaimable), isCut: false }
}

async function countByGroup(round: ProbeRound, sum: DepthSum): Promise<Depth | undefined> {
  const groups = await findGroups(round, 'depth')
  if (!groups || !(await addGroups(round, groups, sum))) return undefined
  const isCut = groups.length >= mostGroups
  if (isCut) round.cut({ probe: 'depth', reason: 'budget', index: null })
  return { depth: sum.depth, claimable: groups.filter(isClaimable), isCut }
}

async function addLeased(round: ProbeRound, sum: DepthSum): Promise<boolean> {
  const leased = await round.rows(probes.leasedDepth)
  const accuracy = total(leased ?? []) > probes.mostLeasedCounted ? 'atLeast' : 'exact'
  for (const row of leased ?? []) sum.add(text(row, 'type'), state(row), count(row, 'n'), accuracy)
  return leased !== undefined
}

/** At most `mostGroups`, the most urgent first; for the figure of this name. */
export async function findGroups(round: ProbeRound, name: 'depth' | 'oldest'): Promise<Group[] | undefined> {
  const { first, next } = probes.groupsFor(name)
  const found: Group[] = []
  let rows = await round.rows(first)
  for (;;) {
    const [row] = rows ?? []
    if (!row) return rows && found
    const group = toGroup(row)
    found.push(group)
    if (found.length >= mostGroups) return found
    rows = await round.rows(next, [group.rank, group.type, group.rank])
  }
}

async function addGroups(round: ProbeRound, groups: readonly Group[], sum: DepthSum): Promise<boolean> {
  const sizes = await expectedSizes(round, groups)
  if (!sizes) return false
  const most = countedUpTo(sizes)
  for (const chunk of chunksOf([...groups.entries()], groupsAtOnce)) {
    const values = chunk.map(([index, { rank, type }]): SqlValue[] => [index, rank, type, (most[index] ?? 0) + 1])
    const rows = await round.rows(...padded(probes.groupStates, values, noGroup))
    if (!rows) return false
    for (const [index, group] of chunk) {
      const states = rows.filter((row) => count(row, 'position') === index)
      if (total(states) <= (most[index] ?? 0)) addStates(sum, group, states)
      else if (!(await addLarge(round, { group, states }, sum))) return false
    }
  }
  return true
}

async function expectedSizes(round: ProbeRound, groups: readonly Group[]): Promise<number[] | undefined> {
  const sizes: number[] = []
  for (const chunk of chunksOf(groups, groupsAtOnce)) {
    const values = chunk.map(({ rank, type }): SqlValue[] => [rank, type])
    const expected = await round.expectedRows(...padded(probes.groupSizes, values))
    if (!expected) return undefined
    sizes.push(...chunk.map((_, position) => expected[position] ?? 0))
  }
  return sizes
}

/** How far each group is counted: the small ones whole, the rest shares what is left. Estimates may be off by half. */
export function countedUpTo(sizes: readonly number[]): number[] {
  const most = sizes.map(() => 0)
  let left: number = mostCounted.all
  const smallestFirst = [...sizes.entries()].sort(([, a], [, b]) => a - b)
  smallestFirst.forEach(([index, size], position) => {
    const share = Math.floor(left / (sizes.length - position))
    const upTo = Math.max(leastCounted, Math.min(mostCounted.group, share, 2 * size))
    most[index] = upTo
    left = Math.max(0, left - upTo)
  })
  return most
}

/** Position, rank, type, limit. */
const noGroup: SqlValue[] = [-1, 0, '', 0]

interface LargeGroup {
  readonly group: Group
  /** Of the longest due, as far as they were counted. */
  readonly states: readonly SqlRow[]
}

/** A group that goes beyond what was counted: about so many of each state, or at least those that were counted. */
async function addLarge(round: ProbeRound, { group, states }: LargeGroup, sum: DepthSum): Promise<boolean> {
  const at = [group.rank, group.type, round.now]
  const sizes = await round.expectedRows(probes.partSizes, [...at, ...at])
  const due = await lookAtPart(round, group, 'due')
  const future = await lookAtPart(round, group, 'future')
  if (!sizes || !due || !future) return false
  const counted = total(states)
  addPart(sum, group, { ...due, expected: sizes[0] ?? 0, least: leastOf(due, future, counted) })
  addPart(sum, group, { ...future, expected: sizes[1] ?? 0, least: leastOf(future, due, counted) })
  return true
}

/** The states at both ends of a part of a group. */
interface Look {
  readonly oldest: readonly SqlRow[]
  /** Undefined when the oldest are all. */
  readonly newest: readonly SqlRow[] | undefined
}

async function lookAtPart(
  round: ProbeRound,
  { rank, type }: Group,
  part: keyof typeof probes.partStates
): Promise<Look | undefined> {
  const ends = probes.partStates[part]
  const oldest = await round.rows(ends.oldest, [rank, type, round.now, sampled.oldest])
  if (!oldest) return undefined
  if (total(oldest) < sampled.oldest) return { oldest, newest: undefined }
  const newest = await round.rows(ends.newest, [rank, type, round.now, sampled.newest])
  return newest && { oldest, newest }
}

/** What a part holds at least, when `counted` of both parts were counted. */
function leastOf(part: Look, other: Look, counted: number): number {
  const ofOther = other.newest ? counted : total(other.oldest)
  return Math.max(total(part.oldest), counted - ofOther)
}

function addPart(
  sum: DepthSum,
  group: Group,
  { oldest, newest, expected, least }: Look & { readonly expected: number; readonly least: number }
): void {
  if (!newest) return addStates(sum, group, oldest)
  const shares = meanShares(oldest, newest)
  const size = Math.max(expected, least)
  const accuracy = size === least && shares.size === 1 ? 'atLeast' : 'about'
  for (const sibling of siblings(group)) {
    const share = shares.get(sibling) ?? 0
    // One that no sample met is not known to be empty.
    sum.add(group.type, sibling, Math.round(size * share), share === 0 ? 'about' : accuracy)
  }
}

function meanShares(...samples: readonly (readonly SqlRow[])[]): Map<TaskState, number> {
  const shares = new Map<TaskState, number>()
  for (const sample of samples) {
    for (const row of sample) {
      const share = count(row, 'n') / total(sample) / samples.length
      shares.set(state(row), (shares.get(state(row)) ?? 0) + share)
    }
  }
  return shares
}

/** The states that a rank can hold. */
const siblings = ({ rank }: Group): readonly TaskState[] =>
  probes.isClaimable(rank) ? ['QUEUED', 'RETRY_WAIT'] : ['CREATED', 'PAUSED']

function addStates(sum: DepthSum, { type }: Group, rows: readonly SqlRow[]): void {
  for (const row of rows) sum.add(type, state(row), count(row, 'n'))
}

/** The probe for so many branches, and the values of all; those of unused branches are `filler`, or the last one's again. */
export function padded(
  probeOf: (length: number) => Probe,
  values: readonly SqlValue[][],
  filler = values.at(-1) ?? []
): [Probe, SqlValue[]] {
  const length = paddedLength(values.length)
  const fillers = Array.from({ length: length - values.length }, () => filler)
  return [probeOf(length), [...values, ...fillers].flat()]
}

const toGroup = (row: SqlRow): Group => ({ rank: count(row, 'claim_rank'), type: text(row, 'type') })
export const isClaimable = ({ rank }: Group): boolean => probes.isClaimable(rank)
const state = (row: SqlRow): TaskState => text(row, 'state') as TaskState
const total = (rows: readonly SqlRow[]): number => rows.reduce((sum, row) => sum + count(row, 'n'), 0)
