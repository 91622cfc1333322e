import type { Clock, Fence } from '../../kernel/index.ts'
import { dependencyError } from '../dependents.ts'
import type { ClaimRequest, Recovered, Settlement, SettleResult, TaskStore } from '../task-store.ts'
import type { QueueMetrics } from './queue-metrics.ts'

/** Attempts under way that are remembered for their type and start: more than any worker has slots. */
const mostRemembered = 20_000

interface Started {
  readonly type: string
  readonly at: number
}

/** Attempts that were claimed here and have not ended; shared by the stores of one process. */
export class RunningAttempts {
  private readonly started = new Map<string, Started>()

  add(fence: Fence, type: string, at: number): void {
    if (this.started.size >= mostRemembered) {
      const [oldest] = this.started.keys()
      if (oldest !== undefined) this.started.delete(oldest)
    }
    this.started.set(keyOf(fence), { type, at })
  }

  /** Once for each: a repeated settlement is accepted again and must not count again. */
  take(fence: Fence): Started | undefined {
    const key = keyOf(fence)
    const found = this.started.get(key)
    this.started.delete(key)
    return found
  }
}

const keyOf = ({ taskId, attempt }: Fence): string => `${taskId}/${attempt}`

export interface Metering {
  readonly metrics: QueueMetrics
  readonly clock: Clock
  /** The same for all stores of one worker, which claims through one and renews through another. */
  readonly attempts: RunningAttempts
}

/**
 * The same store, counted: what it answers is what happened, wherever the caller stands. Methods without a counter pass through,
 * those that the port gets later too.
 */
export function meteredStore(store: TaskStore, metering: Metering): TaskStore {
  const { metrics, clock, attempts } = metering
  const counted: Pick<TaskStore, 'submit' | 'runSchedules' | 'claim' | 'renew' | 'settle' | 'act' | 'recover'> = {
    async submit(tasks) {
      const results = await store.submit(tasks)
      for (const [index, result] of results.entries()) {
        if (result.status !== 'created') continue
        const type = tasks[index]?.type ?? ''
        metrics.submitted(type)
        if (result.isFailed) metrics.failed(type, dependencyError.code)
      }
      return results
    },
    async runSchedules(stopped) {
      const round = await store.runSchedules(stopped)
      for (const type of round.submitted) metrics.submitted(type)
      return round
    },
    async claim(request) {
      const startedAt = clock.monotonic()
      const counting: ClaimRequest = { ...request, onConflict: () => metrics.claimConflict() }
      const claimed = await store.claim(counting)
      metrics.claimTook((clock.monotonic() - startedAt) / 1_000)
      for (const { fence, type } of claimed) {
        metrics.claimed(type)
        attempts.add(fence, type, clock.monotonic())
      }
      return claimed
    },
    async renew(...leases) {
      try {
        const renewal = await store.renew(...leases)
        metrics.renewalsFailed('lost', renewal.lost.filter((fence) => attempts.take(fence)).length)
        return renewal
      } catch (error) {
        metrics.renewalsFailed('error', 1)
        throw error
      }
    },
    async settle(settlements) {
      const results = await store.settle(settlements)
      for (const [index, settlement] of settlements.entries()) countEnd(settlement, results[index], metering)
      for (const { dependents = [] } of results) for (const one of dependents) countRecovered(one, metrics)
      return results
    },
    async act(...call) {
      const result = await store.act(...call)
      if (result.status === 'done') for (const one of result.dependents ?? []) countRecovered(one, metrics)
      return result
    },
    async recover(limit) {
      const recovered = await store.recover(limit)
      for (const one of recovered) countRecovered(one, metrics)
      return recovered
    }
  }
  return new Proxy(store, {
    get: (target, name) => {
      if (Object.hasOwn(counted, name)) return Reflect.get(counted, name) as unknown
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    }
  })
}

function countEnd(
  settlement: Settlement,
  result: SettleResult | undefined,
  { metrics, clock, attempts }: Metering
): void {
  const started = attempts.take(settlement.fence)
  if (!started || !result) return
  const { type, at } = started
  if (result.state === undefined) return metrics.renewalsFailed('lost', 1)
  const code = 'error' in settlement ? settlement.error.code : 'UNKNOWN'
  metrics.attemptTook(type, (clock.monotonic() - at) / 1_000)
  if (code === 'TIMEOUT') metrics.timedOut(type)
  switch (result.state) {
    case 'SUCCESS':
      return metrics.succeeded(type, 'success')
    case 'PARTIAL_SUCCESS':
      return metrics.succeeded(type, 'partial_success')
    case 'FAILED':
      return metrics.failed(type, code)
    case 'RETRY_WAIT':
      return metrics.retried(type, code)
    case 'CANCELLED':
      return metrics.cancelled(type)
    default:
      // QUEUED; or what became of it since, when an accepted settlement was repeated.
      if (settlement.outcome === 'HANDED_BACK') metrics.handedBack(type)
  }
}

function countRecovered({ type, reason, state }: Recovered, metrics: QueueMetrics): void {
  if (reason === 'LEASE_EXPIRED') metrics.leaseExpired(type)
  if (state === 'FAILED') metrics.failed(type, reason)
  else if (state === 'RETRY_WAIT') metrics.retried(type, reason)
  else if (state === 'CANCELLED') metrics.cancelled(type)
}
