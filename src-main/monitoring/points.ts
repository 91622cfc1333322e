import { isHeldBack, liveStates, workerAliveMs } from '../kernel/index.ts'
import type { MetricName, Percentiles, Point, ProbeName, QueueReading, TypeFlow, WorkerRow } from '../kernel/index.ts'

/** Types that get series of their own: those with the most tasks, then those with the most traffic. */
export const typesPerReading = 100

/** Totals that the rates come from; of one type, or summed over all. */
interface Flow {
  readonly submitted: number
  readonly finished: number
  readonly ended: number
  readonly failed: number
  readonly retried: number
  readonly recovered: number
}

/**
 * All points of one reading, for the whole queue (type '') and for each type. A state without tasks is a known zero, and
 * so is the age when nothing waits. What the reading cannot tell has no point: no rate when no attempt ended, no percentile
 * when none was measured, nothing of a probe that was held back.
 */
export function pointsOf(reading: QueueReading): Point[] {
  const whole = [
    ...depthPoints('', reading.depth),
    point('oldestMs', '', Math.max(0, ...reading.oldest.map(({ ageMs }) => ageMs))),
    ...flowPoints('', sum(reading.flow)),
    ...percentilePoints('', reading),
    ...workerPoints(reading),
    ...serverPoints(reading),
    ...costPoints(reading)
  ]
  return letThrough(reading, [...whole, ...busiestTypes(reading).flatMap((type) => pointsOfType(reading, type))])
}

/**
 * `points` of the reading with those of these types, which may be idle, or not among the busiest: a type that the reading does not have has no tasks and
 * no traffic, and what was held back is unknown of it too.
 */
export function withTypes(reading: QueueReading, points: readonly Point[], types: readonly string[]): readonly Point[] {
  const known = new Set(points.map(({ type }) => type))
  const missing = types.filter((type) => !known.has(type))
  return [
    ...points,
    ...letThrough(
      reading,
      missing.flatMap((type) => pointsOfType(reading, type))
    )
  ]
}

const letThrough = (reading: QueueReading, points: readonly Point[]): Point[] =>
  points.filter(({ metric }) => !probesOf(metric).some((probe) => isHeldBack(reading, probe)))

/** Whose figures a series is made of; none when it has no point anyway without them. */
function probesOf(metric: MetricName): readonly ProbeName[] {
  const [family] = metric.split('.')
  if (family === 'depth') return ['depth']
  if (family === 'duration' || family === 'pickup') return ['durations']
  return probes[metric] ?? []
}

const probes: { readonly [metric in MetricName]?: readonly ProbeName[] } = {
  oldestMs: ['oldest'],
  in1m: ['submitted'],
  out1m: ['finished'],
  failureRate: ['ended'],
  retryRate: ['ended', 'retries'],
  recovered5m: ['ended', 'retries'],
  ended5m: ['ended'],
  workersAlive: ['workers'],
  workersKnown: ['workers'],
  poolUse: ['workers'],
  claimP95: ['workers'],
  schedulesLate: ['schedules']
}

const point = (metric: MetricName, type: string, value: number): Point => ({ metric, type, value })

function pointsOfType(reading: QueueReading, type: string): Point[] {
  const flow = reading.flow.filter((of) => of.type === type)
  const age = reading.oldest.find((of) => of.type === type)?.ageMs ?? 0
  return [
    ...depthPoints(
      type,
      reading.depth.filter((of) => of.type === type)
    ),
    point('oldestMs', type, age),
    ...flowPoints(type, sum(flow)),
    ...percentilePoints(type, flow[0] ?? { duration: null, pickup: null })
  ]
}

function busiestTypes({ depth, oldest, flow }: QueueReading): string[] {
  const weights = new Map<string, { tasks: number; traffic: number }>()
  const weigh = (type: string, tasks: number, traffic: number): void => {
    if (type === '') return // '' is the whole queue
    const known = weights.get(type) ?? { tasks: 0, traffic: 0 }
    weights.set(type, { tasks: known.tasks + tasks, traffic: known.traffic + traffic })
  }
  for (const { type, count } of depth) weigh(type, count, 0)
  for (const { type } of oldest) weigh(type, 0, 0)
  for (const { type, submitted1m, finished1m, ended5m } of flow) weigh(type, 0, submitted1m + finished1m + ended5m)
  const ordered = [...weights].sort(([a, x], [b, y]) => y.tasks - x.tasks || y.traffic - x.traffic || (a < b ? -1 : 1))
  return ordered.slice(0, typesPerReading).map(([type]) => type)
}

function depthPoints(type: string, depth: QueueReading['depth']): Point[] {
  const counts = liveStates.map((state) => ({
    state,
    count: depth.reduce((total, of) => total + (of.state === state ? of.count : 0), 0)
  }))
  return [
    ...counts.map(({ state, count }) => point(`depth.${state}`, type, count)),
    point(
      'depth',
      type,
      counts.reduce((total, { count }) => total + count, 0)
    )
  ]
}

function sum(flows: readonly TypeFlow[]): Flow {
  const total = (pick: (flow: TypeFlow) => number): number => flows.reduce((all, flow) => all + pick(flow), 0)
  return {
    submitted: total((flow) => flow.submitted1m),
    finished: total((flow) => flow.finished1m),
    ended: total((flow) => flow.ended5m),
    failed: total((flow) => flow.failed5m),
    retried: total((flow) => flow.retried5m),
    recovered: total((flow) => flow.recovered5m)
  }
}

function flowPoints(type: string, flow: Flow): Point[] {
  const rates =
    flow.ended > 0
      ? [point('failureRate', type, flow.failed / flow.ended), point('retryRate', type, flow.retried / flow.ended)]
      : []
  return [
    point('in1m', type, flow.submitted),
    point('out1m', type, flow.finished),
    ...rates,
    point('recovered5m', type, flow.recovered),
    point('ended5m', type, flow.ended)
  ]
}

function percentilePoints(
  type: string,
  { duration, pickup }: { duration: Percentiles | null; pickup: Percentiles | null }
): Point[] {
  const named = (name: 'duration' | 'pickup', values: Percentiles | null): Point[] =>
    values === null ? [] : (['p50', 'p95', 'p99'] as const).map((p) => point(`${name}.${p}`, type, values[p]))
  return [...named('duration', duration), ...named('pickup', pickup)]
}

/** A worker that stopped in order is no longer expected; one that fell silent is known and not alive. */
function workerPoints({ at, workers }: QueueReading): Point[] {
  const expected = workers.filter(({ status }) => status !== 'stopped')
  const alive = expected.filter(({ lastHeartbeatAt }) => at - lastHeartbeatAt < workerAliveMs)
  const total = (of: (worker: WorkerRow) => number): number => alive.reduce((all, worker) => all + of(worker), 0)
  const slots = total((worker) => worker.slots)
  const busy = total(({ running }) => running)
  const claims = alive.flatMap(({ claimP95Ms }) => (claimP95Ms === null ? [] : [claimP95Ms]))
  return [
    point('workersAlive', '', alive.length),
    point('workersKnown', '', expected.length),
    ...(slots > 0 ? [point('poolUse', '', busy / slots)] : []),
    ...(claims.length > 0 ? [point('claimP95', '', Math.max(...claims))] : [])
  ]
}

function serverPoints({ server }: QueueReading): Point[] {
  if (!server) return []
  const { sessions, mostSessions, threadsRunning } = server
  return [
    ...(mostSessions > 0 ? [point('databaseUse', '', sessions / mostSessions)] : []),
    ...(threadsRunning === null ? [] : [point('threadsRunning', '', threadsRunning)])
  ]
}

function costPoints({ schedulesLate, costMs, costRows }: QueueReading): Point[] {
  return [
    ...(schedulesLate === null ? [] : [point('schedulesLate', '', schedulesLate)]),
    point('monitorMs', '', costMs),
    ...(costRows === null ? [] : [point('monitorRows', '', costRows)])
  ]
}
