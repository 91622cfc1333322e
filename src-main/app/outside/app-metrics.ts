import type { Accuracy, MetricName, Point } from '../../kernel/index.ts'
import {
  BoundedLabels,
  openGaugePage,
  otherLabel,
  type GaugeFamily,
  type GaugeSample
} from '../../queue/metrics/index.ts'
import type { MetricsPage } from '../../queue/metrics/index.ts'
import { leastAccurate } from './least-accurate.ts'
import { hasFigures, linkUp, type SeenQueue } from './seen-queue.ts'

/** Types of one connection with series of their own: the first that are met; later ones count as `other`. */
const mostTypes = 100

/** How figures of several types become one under `other`; null: they have none together. */
type Together = 'sum' | 'max' | null

interface Figure {
  readonly metric: MetricName
  readonly family: string
  readonly help: string
  /** Unit of the point to unit of the metric. */
  readonly scale: number
  /** `whole`: of the whole queue. */
  readonly per: 'whole' | { readonly type: Together }
  readonly labels?: Readonly<Record<string, string>>
}

const ofTypes = (
  metric: MetricName,
  family: string,
  [help, type, scale = 1]: [help: string, type: Together, scale?: number]
): Figure => ({ metric, family, help, scale, per: { type } })
const whole = (metric: MetricName, family: string, help: string, scale = 1): Figure => ({
  metric,
  family,
  help,
  scale,
  per: 'whole'
})
const toSeconds = 0.001

const quantiles = (name: 'duration' | 'pickup', family: string, help: string): Figure[] =>
  (['p50', 'p95', 'p99'] as const).map((p) => ({
    ...whole(`${name}.${p}`, family, help, toSeconds),
    labels: { quantile: `0.${p.slice(1).replace(/0$/, '')}` }
  }))

/** All but depth, which also has states. */
const figures: readonly Figure[] = [
  ofTypes('oldestMs', 'taskdeck_queue_oldest_waiting_seconds', [
    'For how long the task that is due the longest has been due; 0 when none is.',
    'max',
    toSeconds
  ]),
  ofTypes('in1m', 'taskdeck_queue_submitted_per_minute', ['Tasks submitted in the last minute.', 'sum']),
  ofTypes('out1m', 'taskdeck_queue_finished_per_minute', ['Tasks that ended in the last minute.', 'sum']),
  ofTypes('failureRate', 'taskdeck_queue_type_failure_ratio', [
    'Share of the attempts of the last 5 minutes that failed for good, by type.',
    null
  ]),
  ofTypes('retryRate', 'taskdeck_queue_type_retry_ratio', [
    'Share of the attempts of the last 5 minutes that will be followed by another, by type.',
    null
  ]),
  whole(
    'failureRate',
    'taskdeck_queue_failure_ratio',
    'Share of the attempts of the last 5 minutes that failed for good.'
  ),
  whole(
    'retryRate',
    'taskdeck_queue_retry_ratio',
    'Share of the attempts of the last 5 minutes that will be followed by another.'
  ),
  whole('recovered5m', 'taskdeck_queue_recovered_leases', 'Expired leases recovered in the last 5 minutes.'),
  ...quantiles(
    'duration',
    'taskdeck_queue_attempt_duration_seconds',
    'Attempts of the last 5 minutes, the newest 1,000 at most.'
  ),
  ...quantiles(
    'pickup',
    'taskdeck_queue_pickup_seconds',
    'From due to claimed, of the same attempts as the durations.'
  ),
  whole('workersAlive', 'taskdeck_queue_workers_alive', 'Workers with a heartbeat in the last 30 seconds.'),
  whole('workersKnown', 'taskdeck_queue_workers_known', 'Workers that have not stopped, silent ones included.'),
  whole('poolUse', 'taskdeck_queue_worker_slots_used_ratio', 'Running and claimed tasks to slots, of live workers.'),
  whole('claimP95', 'taskdeck_queue_claim_p95_seconds', 'Claims of the slowest live worker.', toSeconds),
  whole('schedulesLate', 'taskdeck_queue_schedules_late', 'Schedules whose tick is more than a minute late.'),
  whole('databaseUse', 'taskdeck_server_sessions_used_ratio', 'Sessions to the most that the database server takes.'),
  whole('threadsRunning', 'taskdeck_server_threads_running', 'Sessions of the server that run a statement.'),
  whole('monitorMs', 'taskdeck_monitoring_reading_seconds', 'Time that the newest reading took.', toSeconds),
  whole('monitorRows', 'taskdeck_monitoring_reading_rows', 'Rows that the server read for the newest reading.')
]

const tasksFamily: GaugeFamily = {
  name: 'taskdeck_queue_tasks',
  help: 'Tasks that have not ended. accuracy: exact, at_least (counted up to a limit) or about (estimated).',
  labels: ['connection', 'type', 'state', 'accuracy']
}
const ownFamilies: readonly GaugeFamily[] = [
  { name: 'taskdeck_app_info', help: 'Always 1.', labels: ['version'] },
  { name: 'taskdeck_connection_up', help: '1 while the database answers the app, else 0.', labels: ['connection'] },
  {
    name: 'taskdeck_queue_reading_age_seconds',
    help: 'Since the newest reading of this run of the app.',
    labels: ['connection']
  },
  {
    name: 'taskdeck_monitoring_limited_probes',
    help: 'Probes that the cost guard held back or cut short in the newest reading.',
    labels: ['connection', 'reason']
  },
  {
    name: 'taskdeck_alert_firing',
    help: '1 while an alert rule on this figure fires, until it is known to be over; 0 while none does.',
    labels: ['connection', 'signal', 'type']
  }
]

/** Every metric of the app, for its page and for the check of docs/outside.md. */
export const appFamilies: readonly GaugeFamily[] = [tasksFamily, ...familiesOf(figures), ...ownFamilies]

function familiesOf(all: readonly Figure[]): GaugeFamily[] {
  const families = all.map(({ family: name, help, per, labels = {} }): GaugeFamily => {
    const own = [...(per === 'whole' ? [] : ['type']), ...Object.keys(labels)]
    return { name, help, labels: ['connection', ...own] }
  })
  return [...new Map(families.map((family) => [family.name, family])).values()]
}

/** The app's page for Prometheus: what it sees of every connection at the moment of a scrape, without asking a database. */
export function openAppMetrics(seen: () => readonly SeenQueue[], version: string): MetricsPage {
  const types = new Map<string, BoundedLabels>()
  return openGaugePage(appFamilies, () => {
    const queues = seen()
    for (const id of types.keys()) if (!queues.some(({ view }) => view.id === id)) types.delete(id)
    const names = labelNames(queues)
    const samples = queues.flatMap((queue) => {
      const labels = types.get(queue.view.id) ?? new BoundedLabels(mostTypes)
      types.set(queue.view.id, labels)
      return samplesOf(queue, names.get(queue.view.id) ?? queue.view.id, labels)
    })
    return [{ name: 'taskdeck_app_info', labels: { version }, value: 1 }, ...samples]
  })
}

/** A connection's name, with its id where two have the same name: their figures must not become one. */
function labelNames(queues: readonly SeenQueue[]): Map<string, string> {
  const isAlone = (name: string): boolean => queues.filter(({ view }) => view.name === name).length === 1
  return new Map(queues.map(({ view: { id, name } }) => [id, isAlone(name) ? name : `${name} (${id})`]))
}

/** What is unknown (a link that is down, a reading that is old, a figure that was held back) has no sample. */
function samplesOf(queue: SeenQueue, connection: string, types: BoundedLabels): GaugeSample[] {
  const up = linkUp(queue.view)
  const own: GaugeSample[] = [
    ...(up === null ? [] : [{ name: 'taskdeck_connection_up', labels: { connection }, value: up ? 1 : 0 }]),
    ...(queue.ageMs === null
      ? []
      : [{ name: 'taskdeck_queue_reading_age_seconds', labels: { connection }, value: queue.ageMs / 1_000 }]),
    ...alertSamples(queue, connection)
  ]
  if (!hasFigures(queue)) return own
  const { points, reading } = queue.tick
  return [
    ...own,
    ...limitSamples(reading.limits, connection),
    ...taskSamples(queue.tick, connection, types),
    ...figures.flatMap((figure) => figureSamples(figure, points, { connection, types }))
  ]
}

function alertSamples({ alerts }: SeenQueue, connection: string): GaugeSample[] {
  const firing = new Map<string, GaugeSample>()
  for (const { rule, state } of alerts?.rules ?? []) {
    if (state === 'unknown') continue
    const labels = { connection, signal: rule.signal, type: rule.type }
    const key = `${rule.signal} ${rule.type}`
    const value = Math.max(state === 'firing' ? 1 : 0, firing.get(key)?.value ?? 0)
    firing.set(key, { name: 'taskdeck_alert_firing', labels, value })
  }
  return [...firing.values()]
}

function limitSamples(limits: readonly { readonly reason: string }[], connection: string): GaugeSample[] {
  const counts = new Map<string, number>()
  // What a table never says was not held back.
  for (const { reason } of limits) if (reason !== 'schema') counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(([reason, value]) => ({
    name: 'taskdeck_monitoring_limited_probes',
    labels: { connection, reason },
    value
  }))
}

const accuracyLabels = { exact: 'exact', atLeast: 'at_least', about: 'about' } as const satisfies Record<
  Accuracy,
  string
>
/** The states of each type that the reading has points for, and under `other` the rest. */
function taskSamples(
  { points, reading }: NonNullable<SeenQueue['tick']>,
  connection: string,
  types: BoundedLabels
): GaugeSample[] {
  const totals = new Map<string, { type: string; state: string; count: number; accuracy: Accuracy }>()
  const add = (type: string, state: string, { count, accuracy }: { count: number; accuracy: Accuracy }): void => {
    const key = `${state} ${type}`
    const known = totals.get(key)
    const all = leastAccurate([known?.accuracy, accuracy])
    totals.set(key, { type, state, count: (known?.count ?? 0) + count, accuracy: all })
  }
  const counted = new Set<string>()
  for (const { type, state, count, accuracy = 'exact' } of reading.depth) {
    counted.add(`${state} ${type}`)
    add(types.of(type), state, { count, accuracy })
  }
  // A state without tasks is a known zero; a figure that was held back has no point.
  for (const { metric, type } of points) {
    const state = /^depth\.(.+)$/.exec(metric)?.[1]
    if (state === undefined || type === '' || counted.has(`${state} ${type}`)) continue
    add(types.of(type), state, { count: 0, accuracy: 'exact' })
  }
  return [...totals.values()].map(({ type, state, count, accuracy }) => ({
    name: tasksFamily.name,
    labels: { connection, type, state, accuracy: accuracyLabels[accuracy] },
    value: count
  }))
}

function figureSamples(
  { metric, family: name, scale, per, labels = {} }: Figure,
  points: readonly Point[],
  { connection, types }: { connection: string; types: BoundedLabels }
): GaugeSample[] {
  const mine = points.filter((point) => point.metric === metric)
  const sample = (value: number, more: Record<string, string> = {}): GaugeSample => ({
    name,
    labels: { connection, ...more, ...labels },
    value: value * scale
  })
  if (per === 'whole') return mine.filter(({ type }) => type === '').map(({ value }) => sample(value))
  const byType = new Map<string, number>()
  for (const { type, value } of mine.filter((point) => point.type !== '')) {
    const label = types.of(type)
    const known = byType.get(label)
    if (label === otherLabel && per.type === null) continue
    byType.set(label, known === undefined ? value : per.type === 'max' ? Math.max(known, value) : known + value)
  }
  return [...byType].map(([type, value]) => sample(value, { type }))
}
