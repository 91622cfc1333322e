import { metricNames, type MetricName, type Point, type QueueReading, type Snapshot, type WorkerRow } from '@contract'

/** A queue whose numbers follow from time alone, so that a snapshot and the ticks after it agree. */
export interface QueueScene {
  /** Types and their usual arrivals per minute. */
  readonly types: readonly (readonly [type: string, perMinute: number, p95Ms: number])[]
  /** Since when `import.medical` fails, ms before now at the start; null is never. */
  readonly failingSinceMs: number | null
  readonly workers: number
  /** Workers whose heartbeat stopped. */
  readonly silent: number
  /** Without readings, ms before the start: [from, to]. */
  readonly gap: readonly [number, number] | null
  readonly startedAt: number
}

export const clinicTypes: QueueScene['types'] = [
  ['import.medical', 820, 4_100],
  ['mail.send', 132, 840],
  ['webhook.deliver', 86, 2_300],
  ['report.render', 12, 15_000],
  ['sync.inventory', 20, 4_000],
  ['thumbnail.make', 41, 610],
  ['ai.summarize', 9, 39_000],
  ['invoice.issue', 7, 1_100],
  ['export.csv', 2, 8_200],
  ['index.reindex', 1, 22_000]
]

/** A repeatable wobble in [-1, 1]. */
function wobble(at: number, seed: number): number {
  const x = Math.sin(at / 37_000 + seed * 12.9898) * 43_758.5453
  return (x - Math.floor(x)) * 2 - 1
}

interface TypeNow {
  type: string
  depth: Partial<Record<'QUEUED' | 'RETRY_WAIT' | 'RUNNING', number>>
  oldestMs: number
  in1m: number
  out1m: number
  failure: number
  retry: number
  p95: number
}

function typeAt(scene: QueueScene, index: number, at: number): TypeNow {
  const [type, rate, p95] = scene.types[index]!
  const noise = 1 + 0.08 * wobble(at, index)
  const failedFor = scene.failingSinceMs === null ? -1 : at - (scene.startedAt - scene.failingSinceMs)
  if (index === 0 && failedFor > 0) {
    const piled = (failedFor / 60_000) * rate * 0.95
    const rise = Math.min(1, failedFor / 180_000)
    return {
      type,
      depth: { QUEUED: piled * 0.75, RETRY_WAIT: piled * 0.25, RUNNING: 40 },
      oldestMs: Math.max(20_000, failedFor - 120_000),
      in1m: rate * noise,
      out1m: rate * (1 - 0.97 * rise) * noise,
      failure: 0.16 * rise * noise,
      retry: 0.63 * rise * noise,
      p95: p95 + 26_000 * rise * noise
    }
  }
  return {
    type,
    depth: { QUEUED: rate * 1.5 * noise, RETRY_WAIT: rate * 0.05, RUNNING: Math.max(1, Math.round(rate / 12)) },
    oldestMs: 9_000 + 24_000 * Math.abs(wobble(at, index + 20)),
    in1m: rate * noise,
    out1m: rate * (1 + 0.08 * wobble(at, index + 9)),
    failure: 0.008 + 0.01 * Math.abs(wobble(at, index + 3)),
    retry: 0.012 + 0.01 * Math.abs(wobble(at, index + 5)),
    p95: p95 * noise
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

function workersAt(scene: QueueScene, at: number): WorkerRow[] {
  return Array.from({ length: scene.workers }, (_, i) => {
    const silent = i < scene.silent
    const beat = silent ? scene.startedAt - 192_000 : at - 1_000 * (i % 5)
    return {
      id: `imp-${String(scene.workers - i).padStart(2, '0')}`,
      host: `clinic-worker-${(i % 4) + 1}`,
      pid: 4100 + i,
      version: i % 3 === 0 ? '4.12.0' : '4.11.2',
      status: 'running' as const,
      slots: 20,
      running: silent ? 3 : 8 + (i % 9),
      threads: 20,
      queued: 0,
      startedAt: scene.startedAt - 86_400_000,
      lastHeartbeatAt: beat,
      lastPollAt: beat,
      lastClaimAt: beat - 2_000,
      claimP50Ms: 2.1,
      claimP95Ms: 6.4,
      claimP99Ms: 11,
      database: 'ok',
      fault: null,
      request: null
    }
  })
}

export function readingAt(scene: QueueScene, at: number): QueueReading {
  const types = scene.types.map((_, i) => typeAt(scene, i, at))
  const duration = { p50: 900, p95: Math.max(0, ...types.map((one) => one.p95)), p99: 32_000 }
  const pickup = { p50: 240, p95: 1_900, p99: 3_800 }
  return {
    at,
    depth: types.flatMap((one) =>
      Object.entries(one.depth).map(([state, count]) => ({
        type: one.type,
        state: state as 'QUEUED',
        count: Math.round(count)
      }))
    ),
    oldest: types.map((one, i) => ({ type: one.type, taskId: String(48_211_000 + i), ageMs: one.oldestMs })),
    flow: types.map((one) => ({
      type: one.type,
      submitted1m: Math.round(one.in1m),
      finished1m: Math.round(one.out1m),
      ended5m: Math.round(one.in1m * 5),
      failed5m: Math.round(one.in1m * 5 * one.failure),
      retried5m: Math.round(one.in1m * 5 * one.retry),
      recovered5m: 0,
      duration: { p50: one.p95 / 4, p95: one.p95, p99: one.p95 * 1.1 },
      pickup
    })),
    duration: types.length > 0 ? duration : null,
    pickup: types.length > 0 ? pickup : null,
    workers: workersAt(scene, at),
    server: { sessions: 41, mostSessions: 151, threadsRunning: 3, rowLockWaits: 12, rowLockTimeMs: 840 },
    schedulesLate: 0,
    costMs: 11,
    costRows: 4_106,
    limits: []
  }
}

/** The series of one type. */
function addType(one: TypeNow, at: number, add: (metric: MetricName, value: number, type: string) => void): void {
  const { type } = one
  for (const state of ['QUEUED', 'RETRY_WAIT', 'RUNNING'] as const)
    add(`depth.${state}`, Math.round(one.depth[state] ?? 0), type)
  add('depth', Math.round(sum(Object.values(one.depth))), type)
  add('oldestMs', one.oldestMs, type)
  add('in1m', one.in1m, type)
  add('out1m', one.out1m, type)
  add('failureRate', one.failure, type)
  add('retryRate', one.retry, type)
  for (const [name, factor] of [
    ['p50', 0.25],
    ['p95', 1],
    ['p99', 1.12]
  ] as const) {
    add(`duration.${name}`, one.p95 * factor * (1 + 0.05 * wobble(at, factor)), type)
    add(`pickup.${name}`, (400 + one.oldestMs * 0.06) * factor * (1 + 0.1 * wobble(at, factor + 4)), type)
  }
}

export function pointsAt(scene: QueueScene, at: number): Point[] {
  const types = scene.types.map((_, i) => typeAt(scene, i, at))
  const points: Point[] = []
  const add = (metric: MetricName, value: number, type = ''): void => void points.push({ metric, type, value })
  for (const one of types) addType(one, at, add)
  for (const state of ['QUEUED', 'RETRY_WAIT', 'RUNNING'] as const) {
    add(`depth.${state}`, Math.round(sum(types.map((one) => one.depth[state] ?? 0))))
  }
  add('depth', Math.round(sum(types.flatMap((one) => Object.values(one.depth)))))
  if (types.length > 0) {
    const arrivals = sum(types.map((one) => one.in1m))
    add('oldestMs', Math.max(...types.map((one) => one.oldestMs)))
    add('failureRate', sum(types.map((one) => one.failure * one.in1m)) / arrivals)
    add('retryRate', sum(types.map((one) => one.retry * one.in1m)) / arrivals)
    const slow = Math.max(...types.slice(0, 1).map((one) => one.p95))
    for (const [name, factor] of [
      ['p50', 0.1],
      ['p95', 1],
      ['p99', 1.12]
    ] as const) {
      add(`duration.${name}`, slow * factor * (1 + 0.05 * wobble(at, factor)))
      add(`pickup.${name}`, (slow - 3_000) * factor * (1 + 0.1 * wobble(at, factor + 4)))
    }
  }
  add('in1m', sum(types.map((one) => one.in1m)))
  add('out1m', sum(types.map((one) => one.out1m)))
  const workers = workersAt(scene, at)
  add('workersKnown', workers.length)
  add('workersAlive', workers.filter((worker) => at - worker.lastHeartbeatAt < 30_000).length)
  return points
}

export function snapshotOf(
  scene: QueueScene,
  question: { connectionId: string; rangeMs: number; maxPoints: number },
  seq: number,
  until: number
): Snapshot {
  const { rangeMs, maxPoints, connectionId } = question
  const stepMs = Math.max(2_000, Math.ceil(rangeMs / maxPoints))
  const times: number[] = []
  for (let at = until - rangeMs; at <= until; at += stepMs) times.push(at)
  const byKey = new Map<string, (number | null)[]>()
  times.forEach((at, i) => {
    const since = scene.startedAt - at
    if (scene.gap && since < scene.gap[0] && since > scene.gap[1]) return
    for (const point of pointsAt(scene, at)) {
      const key = `${point.metric} ${point.type}`
      const values = byKey.get(key) ?? times.map((): number | null => null)
      values[i] = point.value
      byKey.set(key, values)
    }
  })
  const series = [...byKey].map(([key, values]) => {
    const [metric = '', type = ''] = key.split(' ')
    return { metric: metricNames.find((name) => name === metric) ?? metric, type, values }
  })
  const from = until - rangeMs
  return { connectionId, seq, from, to: until, stepMs, times, series, reading: readingAt(scene, until) }
}
