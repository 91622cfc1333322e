import {
  DepthSum,
  type Probe,
  type ProbeRound,
  type QueueReading,
  type SqlRow,
  type SqlValue,
  type TaskState
} from '../../kernel/index.ts'
import * as probes from './probes.ts'
import { count, epochMs, text, utcText } from './row-values.ts'
import { chunksOf, paddedLength } from './statement-text.ts'

/*
 * How many tasks wait, however many there are. A short queue is counted whole. A long one is counted group by group (priority and type), each up to
 * a limit; what goes beyond is estimated by the server, stratum by stratum of the due time.
 */

/** Priorities and types that have waiting tasks, and are looked at. */
export const mostGroups = 300
/** Entries of the claim's index that one group, and all groups together, are counted up to. */
const mostCounted = { group: 50_000, all: 50_000 } as const
/** However many groups there are, each is counted so far. */
const leastCounted = 1_000
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
  const small: Group[] = []
  for (const [index, group] of groups.entries()) {
    const upTo = most[index] ?? 0
    if ((sizes[index] ?? 0) <= upTo) small.push(group)
    else {
      const beyond = await round.rows(probes.groupBeyond, [group.rank, group.type, upTo])
      if (!beyond) return false
      const [entry] = beyond
      if (!entry) small.push(group)
      else if (!(await addLarge(round, { group, counted: upTo, entry }, sum))) return false
    }
  }
  return addSmall(round, small, sum)
}

/** Groups that are counted whole. */
async function addSmall(round: ProbeRound, groups: readonly Group[], sum: DepthSum): Promise<boolean> {
  for (const chunk of chunksOf(groups, groupsAtOnce)) {
    const values = chunk.map(({ rank, type }, position): SqlValue[] => [position, rank, type])
    const rows = await round.rows(...padded(probes.groupStates, values, noGroup))
    if (!rows) return false
    for (const [position, group] of chunk.entries())
      addStates(
        sum,
        group,
        rows.filter((row) => count(row, 'position') === position)
      )
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

/** Position, rank, type. */
const noGroup: SqlValue[] = [-1, 255, '']

interface LargeGroup {
  readonly group: Group
  /** Entries that were counted, and the one behind them. */
  readonly counted: number
  readonly entry: SqlRow
}

/**
 * A group that goes beyond what was counted: about so many of each state. Retries come due all the time and a backlog lies far back, so states are told
 * apart in each stratum by itself.
 */
async function addLarge(round: ProbeRound, { group, counted, entry }: LargeGroup, sum: DepthSum): Promise<boolean> {
  const { rank, type } = group
  const ranges = strataOf(round.now).map(([from, before]): SqlValue[] => [rank, type, from, before])
  const place = [text(entry, 'run_at'), text(entry, 'run_at'), BigInt(text(entry, 'id'))]
  const expected = await round.expectedRows(probes.strataSizes, [...ranges.flat(), rank, type, ...place])
  const values = ranges.flatMap((range, position) => [position, ...range])
  const rows = await round.rows(probes.strataStates, values)
  if (!expected || !rows) return false
  const scale = scaleOf(counted, expected[probes.strata])
  const looks = ranges.map((_, position) => lookAt(position, rows, (expected[position] ?? 0) * scale))
  const all = looks.reduce((sizes, { size }) => sizes + size, 0)
  // It surely holds what was counted.
  const missing = Math.max(1, (counted + 1) / all)
  for (const { states, isWhole, size } of looks) {
    if (isWhole) addStates(sum, group, states)
    else
      for (const [name, share] of sharesOf(group, states))
        sum.add(type, name, Math.round(size * missing * share), 'about')
  }
  return true
}

/** What an estimate has to be multiplied by: InnoDB doubles those of long ranges, and what was counted tells by how much it errs. */
const scaleOf = (counted: number, expected = counted): number =>
  Math.min(4, Math.max(0.25, counted / Math.max(1, expected)))

interface Look {
  readonly states: readonly SqlRow[]
  /** Its sample is all of it. */
  readonly isWhole: boolean
  readonly size: number
}

function lookAt(position: number, rows: readonly SqlRow[], expected: number): Look {
  const states = rows.filter((row) => count(row, 'position') === position)
  const sampled = total(states)
  const isWhole = sampled < probes.mostSampled
  return { states, isWhole, size: isWhole ? sampled : Math.max(expected, sampled) }
}

const minuteMs = 60_000
/** Distances from now at which strata end, on either side. */
const edgesMs = [1, 10, 60, 360, 1_440].map((minutes) => minutes * minuteMs)
/** All that a DATETIME can hold, but the zero date. */
const allTime = { first: '1000-01-01 00:00:00', last: '9999-12-31 23:59:59.999999' } as const

/** From and before, one pair a stratum: narrow ones around now, wide ones far from it. */
function strataOf(now: string): [string, string][] {
  const at = epochMs(now)
  const inner = [...edgesMs.map((ms) => at - ms).reverse(), at, ...edgesMs.map((ms) => at + ms)].map(utcText)
  return [allTime.first, ...inner].map((from, index) => [from, inner[index] ?? allTime.last])
}

/** A state that a sample has not met is not known to be missing: its share is 0. */
function sharesOf(group: Group, sample: readonly SqlRow[]): [TaskState, number][] {
  const of = (name: TaskState): number =>
    sample.reduce((sum, row) => (state(row) === name ? sum + count(row, 'n') : sum), 0)
  return siblings(group).map((name) => [name, of(name) / total(sample)])
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
