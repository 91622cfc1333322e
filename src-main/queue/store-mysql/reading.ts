import type { FlowCount, ProbeGuard, ProbeRound, QueueReading, SqlRow, SqlValue } from '../../kernel/index.ts'
import { flowOf, latenciesOf, type AttemptSample } from '../reading-figures.ts'
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
    submitted: ((await round.rows(probes.submitted)) ?? []).map(toFlowCount),
    finished: ((await round.rows(probes.finished)) ?? []).map(toFlowCount),
    ended: ((await round.rows(probes.ended)) ?? []).map(toFlowCount)
  }
  const { costMs, costRows, server, limits } = await round.end()
  return {
    at: time({ now: round.now }, 'now'),
    depth: depth?.depth ?? [],
    oldest,
    flow: flowOf(flow, samples),
    ...latenciesOf(samples),
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

/** None for an attempt with a zero date, whose times are unknown. */
function toSample(row: SqlRow): AttemptSample[] {
  const [durationUs, pickupUs] = [countOrNull(row, 'duration_us'), countOrNull(row, 'pickup_us')]
  if (durationUs === null || pickupUs === null) return []
  return [{ type: text(row, 'type'), durationMs: durationUs / 1000, pickupMs: pickupUs / 1000 }]
}
