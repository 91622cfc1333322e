import type {
  Percentiles,
  ProbeGuard,
  ProbeRound,
  QueueReading,
  SqlRow,
  SqlValue,
  TypeFlow
} from '../../kernel/index.ts'
import { FlowWindow, percentilesOf, type FlowCount } from '../reading-figures.ts'
import { findGroups, isClaimable, mostGroups, padded, readDepth, type Depth } from './depth.ts'
import * as probes from './probes.ts'
import { count, countOrNull, text, time } from './row-values.ts'
import { chunksOf } from './statement-text.ts'
import { toWorker } from './workers.ts'

/** Groups whose head one statement looks up. */
const headsAtOnce = 16

/**
 * Statements of their own on READ COMMITTED: each sees its own moment, and none keeps old row versions alive for the next. The cheap ones come
 * first, so that a guard can tell a slow server by them.
 */
export async function readQueue(guard: ProbeGuard, signal?: AbortSignal): Promise<QueueReading> {
  const round = await guard.begin(signal)
  const workers = await round.rows(probes.workers)
  const late = await round.rows(probes.lateSchedules)
  const depth = await readDepth(round)
  const oldest = await readOldest(round, depth)
  const samples = ((await round.rows(probes.newestAttempts)) ?? []).flatMap(toSample)
  const flow = {
    submitted: new FlowWindow(((await round.rows(probes.submitted)) ?? []).map(toFlowCount), 1),
    finished: new FlowWindow(((await round.rows(probes.finished)) ?? []).map(toFlowCount), 1),
    ended: new FlowWindow(((await round.rows(probes.ended)) ?? []).map(toFlowCount), 5)
  }
  const { costMs, costRows, server, limits } = await round.end()
  return {
    at: time({ now: round.now }, 'now'),
    depth: depth?.depth ?? [],
    oldest,
    flow: toFlow(flow, samples),
    ...latencies(samples),
    workers: (workers ?? []).map(toWorker),
    server,
    schedulesLate: late ? count(late[0] ?? {}, 'n') : null,
    costMs,
    costRows,
    limits: [...limits]
  }
}

/** One dive into the index for each type and priority that has waiting tasks; they are known when the depth was read. */
async function readOldest(round: ProbeRound, depth: Depth | undefined): Promise<QueueReading['oldest']> {
  const found = depth ? [] : ((await findGroups(round, 'oldest')) ?? [])
  const groups = depth?.claimable ?? found.filter(isClaimable)
  const oldest = new Map<string, QueueReading['oldest'][number]>()
  for (const chunk of chunksOf(groups, headsAtOnce)) {
    const values = chunk.map(({ rank, type }): SqlValue[] => [rank, type])
    for (const row of (await round.rows(...padded(probes.oldestOfGroups, values))) ?? []) {
      const type = text(row, 'type')
      const ageMs = (countOrNull(row, 'age_us') ?? 0) / 1000
      if (ageMs >= (oldest.get(type)?.ageMs ?? 0)) oldest.set(type, { type, taskId: text(row, 'id'), ageMs })
    }
  }
  if (depth?.isCut ?? found.length >= mostGroups) round.cut({ probe: 'oldest', reason: 'budget', index: null })
  return [...oldest.values()].sort((a, b) => b.ageMs - a.ageMs)
}

/** What a flow probe returned. */
const toFlowCount = (row: SqlRow): FlowCount => ({
  type: text(row, 'type'),
  outcome: text(row, 'outcome'),
  count: count(row, 'n'),
  reachedMs: count(row, 'reached') / 1000
})

interface Flows {
  readonly submitted: FlowWindow
  readonly finished: FlowWindow
  readonly ended: FlowWindow
}

function toFlow({ submitted, finished, ended }: Flows, samples: readonly Sample[]): TypeFlow[] {
  const flows = [...new Set([...submitted.types, ...finished.types, ...ended.types])].sort().map((type) => ({
    type,
    submitted1m: submitted.count(type),
    finished1m: finished.count(type),
    ended5m: ended.count(type, (outcome) => outcome !== 'HANDED_BACK'),
    failed5m: ended.count(type, (outcome) => outcome === 'FAILED'),
    retried5m: ended.count(type, (outcome) => outcome === 'RETRY'),
    recovered5m: ended.count(type, (outcome) => outcome === 'LEASE_EXPIRED'),
    ...latencies(samples.filter((sample) => sample.type === type))
  }))
  return flows.filter(({ submitted1m, finished1m, ended5m }) => submitted1m + finished1m + ended5m > 0)
}

interface Sample {
  readonly type: string
  readonly durationMs: number
  readonly pickupMs: number
}

/** None for an attempt with a zero date, whose times are unknown. */
function toSample(row: SqlRow): Sample[] {
  const [durationUs, pickupUs] = [countOrNull(row, 'duration_us'), countOrNull(row, 'pickup_us')]
  if (durationUs === null || pickupUs === null) return []
  return [{ type: text(row, 'type'), durationMs: durationUs / 1000, pickupMs: pickupUs / 1000 }]
}

function latencies(samples: readonly Sample[]): { duration: Percentiles | null; pickup: Percentiles | null } {
  return {
    duration: percentilesOf(samples.map(({ durationMs }) => durationMs)),
    pickup: percentilesOf(samples.map(({ pickupMs }) => pickupMs))
  }
}
