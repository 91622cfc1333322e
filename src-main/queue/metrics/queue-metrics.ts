import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  terminalStates,
  waitingStates,
  withDeadline,
  AppError,
  type Clock,
  type QueueReading
} from '../../kernel/index.ts'
import { BoundedLabels } from './bounded-labels.ts'

/** Series of one counter at most: types times codes. */
const mostTypes = 100
const mostCodes = 30

/** The probes cost the database something: several scrapers share one reading. */
const readingHoldsMs = 5_000
const readingDeadlineMs = 5_000

/** Seconds, from a no-op to an hour. */
const durationBuckets = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600]
/** Seconds; a claim takes a few milliseconds. */
const claimBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export interface QueueMetricsOptions {
  readonly clock: Clock
  /** One look at the queue; see `TaskStore.read`. */
  readonly read: () => Promise<QueueReading>
}

/**
 * What one process counts about its queue, in Prometheus' terms. Counters are of this process, since it started; the gauges of the
 * queue are read from the database at a scrape, so they are the same from every process.
 */
export class QueueMetrics {
  private readonly registry = new Registry()
  private readonly types = new BoundedLabels(mostTypes)
  private readonly codes = new BoundedLabels(mostCodes)
  private readonly options: QueueMetricsOptions
  private latest: { readonly at: number; readonly reading: Promise<QueueReading> } | undefined

  private readonly submittedTotal = this.counter('tasks_submitted_total', 'Tasks that this process submitted.', 'type')
  private readonly claimedTotal = this.counter('tasks_claimed_total', 'Tasks that this process claimed.', 'type')
  private readonly conflictsTotal = this.counter(
    'claim_conflicts_total',
    'Times that a claim met another transaction and was begun again.'
  )
  private readonly succeededTotal = this.counter(
    'tasks_succeeded_total',
    'Tasks that ended well; outcome is success or partial_success.',
    'type',
    'outcome'
  )
  private readonly failedTotal = this.counter('tasks_failed_total', 'Tasks that ended FAILED.', 'type', 'code')
  private readonly retriedTotal = this.counter(
    'tasks_retried_total',
    'Attempts that failed and will be followed by another one.',
    'type',
    'code'
  )
  private readonly timedOutTotal = this.counter('tasks_timed_out_total', 'Attempts over their timeout.', 'type')
  private readonly cancelledTotal = this.counter('tasks_cancelled_total', 'Running tasks that ended CANCELLED.', 'type')
  private readonly handedBackTotal = this.counter(
    'tasks_handed_back_total',
    'Claimed tasks that went back unstarted or when the worker stopped.',
    'type'
  )
  private readonly leasesExpiredTotal = this.counter(
    'leases_expired_total',
    'Attempts that this process recovered because their worker gave no sign.',
    'type'
  )
  private readonly renewalFailuresTotal = this.counter(
    'lease_renewal_failures_total',
    'Leases found lost (reason lost) and renewals that the database did not answer well (reason error).',
    'reason'
  )
  private readonly readFailuresTotal = this.counter(
    'queue_read_failures_total',
    'Scrapes without figures of the queue, because the database did not give them.'
  )
  private readonly durations = this.histogram('task_duration_seconds', durationBuckets, [
    'Attempts from claim to stored outcome.',
    'type'
  ])
  private readonly claimDurations = this.histogram('claim_duration_seconds', claimBuckets, ['Calls of the claim.'])
  private readonly tasks = this.gauge('tasks', 'Tasks that have not ended.', 'type', 'state')
  private readonly pending = this.gauge(
    'tasks_pending',
    'Tasks that wait for a worker or for their time (QUEUED, RETRY_WAIT).',
    'type'
  )
  private readonly oldestPending = this.gauge(
    'oldest_pending_seconds',
    'For how long the task that is due the longest has been due; 0 when none is.'
  )

  constructor(options: QueueMetricsOptions) {
    this.options = options
    // Of the counters without labels a zero is known; the others begin with their first event.
    for (const reason of ['lost', 'error']) this.renewalFailuresTotal.inc({ reason }, 0)
  }

  submitted(type: string): void {
    this.submittedTotal.inc({ type: this.types.of(type) })
  }

  claimed(type: string): void {
    this.claimedTotal.inc({ type: this.types.of(type) })
  }

  claimTook(seconds: number): void {
    this.claimDurations.observe(seconds)
  }

  claimConflict(): void {
    this.conflictsTotal.inc()
  }

  succeeded(type: string, outcome: 'success' | 'partial_success'): void {
    this.succeededTotal.inc({ type: this.types.of(type), outcome })
  }

  failed(type: string, code: string): void {
    this.failedTotal.inc({ type: this.types.of(type), code: this.codes.of(code) })
  }

  retried(type: string, code: string): void {
    this.retriedTotal.inc({ type: this.types.of(type), code: this.codes.of(code) })
  }

  timedOut(type: string): void {
    this.timedOutTotal.inc({ type: this.types.of(type) })
  }

  cancelled(type: string): void {
    this.cancelledTotal.inc({ type: this.types.of(type) })
  }

  handedBack(type: string): void {
    this.handedBackTotal.inc({ type: this.types.of(type) })
  }

  leaseExpired(type: string): void {
    this.leasesExpiredTotal.inc({ type: this.types.of(type) })
  }

  renewalsFailed(reason: 'lost' | 'error', count: number): void {
    this.renewalFailuresTotal.inc({ reason }, count)
  }

  attemptTook(type: string, seconds: number): void {
    this.durations.observe({ type: this.types.of(type) }, seconds)
  }

  get contentType(): string {
    return this.registry.contentType
  }

  /** Prometheus' text. A database that does not answer costs the queue's gauges only. */
  async text(): Promise<string> {
    await this.showQueue()
    return this.registry.metrics()
  }

  private async showQueue(): Promise<void> {
    const reading = await this.reading().catch(() => undefined)
    for (const gauge of [this.tasks, this.pending, this.oldestPending]) gauge.reset()
    if (!reading) {
      this.oldestPending.remove() // an unknown age is no 0
      this.readFailuresTotal.inc()
      return
    }
    for (const { type, state, count } of reading.depth) {
      if ((terminalStates as readonly string[]).includes(state)) continue
      const label = this.types.of(type)
      this.tasks.inc({ type: label, state }, count)
      if ((waitingStates as readonly string[]).includes(state)) this.pending.inc({ type: label }, count)
    }
    this.oldestPending.set(Math.max(0, ...reading.oldest.map(({ ageMs }) => ageMs)) / 1_000)
  }

  private reading(): Promise<QueueReading> {
    const { clock, read } = this.options
    const now = clock.monotonic()
    if (this.latest && now - this.latest.at < readingHoldsMs) return this.latest.reading
    const late = (): Error => new AppError('STATEMENT_TIMEOUT', 'operational', 'The queue was not read in time.')
    const reading = withDeadline(clock, readingDeadlineMs, read(), late)
    this.latest = { at: now, reading }
    reading.catch(() => (this.latest = undefined))
    return reading
  }

  private counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `taskdeck_${name}`, help, labelNames, registers: [this.registry] })
  }

  private gauge<Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name: `taskdeck_${name}`, help, labelNames, registers: [this.registry] })
  }

  private histogram<Label extends string>(
    name: string,
    buckets: number[],
    [help, ...labelNames]: [string, ...Label[]]
  ): Histogram<Label> {
    return new Histogram({ name: `taskdeck_${name}`, help, labelNames, buckets, registers: [this.registry] })
  }
}
