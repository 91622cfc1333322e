import {
  isHeldBack,
  isQuiet,
  sayableRate,
  troubleOf,
  workerAliveMs,
  type EndedAttempt,
  type QueueLimits,
  type QueueReading,
  type RunningAttempt,
  type TypeFlow,
  type TypeTrouble
} from '@contract'
import { boundedDepth, type Bounded } from '@/shared/figures/bounded.ts'

/** What a reading says of one type. Rates are fractions; null is unknown. */
export interface TypeNumbers {
  readonly depth: Bounded
  readonly running: number
  readonly waiting: number
  readonly oldest: QueueReading['oldest'][number] | null
  readonly oldestHigh: boolean
  readonly flow: TypeFlow | null
  readonly failureRate: number | null
  readonly failureHigh: boolean
}

export function typeNumbers(reading: QueueReading, type: string, limits: QueueLimits): TypeNumbers {
  const parts = reading.depth.filter((part) => part.type === type)
  const inStates = (...states: string[]): number =>
    parts.filter((part) => states.includes(part.state)).reduce((total, part) => total + part.count, 0)
  const oldest = reading.oldest.find((one) => one.type === type) ?? null
  const flow = reading.flow.find((one) => one.type === type) ?? null
  // What was held back is unknown, not zero.
  const ended = isHeldBack(reading, 'ended') ? 0 : (flow?.ended5m ?? 0)
  const failureRate = flow && ended > 0 ? sayableRate(flow.failed5m / ended, ended) : null
  return {
    depth: boundedDepth(reading, type),
    running: inStates('RUNNING', 'CANCEL_REQUESTED'),
    waiting: inStates('QUEUED', 'RETRY_WAIT'),
    oldest,
    oldestHigh: (oldest?.ageMs ?? 0) > limits.oldestMs,
    flow,
    failureRate,
    failureHigh: (failureRate ?? 0) > limits.failureRate
  }
}

/** The one sentence; `types.sentence.KIND` in the i18n files. The first that holds. */
export type TypeSentence =
  | { readonly kind: 'noWorkers'; readonly waiting: number }
  | TypeTrouble
  | { readonly kind: 'oldest'; readonly ageMs: number; readonly taskId: string }
  | { readonly kind: 'stopped'; readonly running: number; readonly waiting: number }
  | { readonly kind: 'well'; readonly in1m: number | null; readonly out1m: number | null }
  | { readonly kind: 'quiet' }

export function typeSentence(reading: QueueReading, numbers: TypeNumbers, limits: QueueLimits): TypeSentence {
  const { flow, oldest, waiting, running } = numbers
  const alive = reading.workers.some(
    (worker) => worker.status !== 'stopped' && reading.at - worker.lastHeartbeatAt < workerAliveMs
  )
  if (waiting > 0 && !alive && !isHeldBack(reading, 'workers')) return { kind: 'noWorkers', waiting }
  const trouble = flow && troubleOf({ flow, reading, limits })
  if (trouble?.kind === 'failing') return trouble
  if (oldest && numbers.oldestHigh) return { kind: 'oldest', ageMs: oldest.ageMs, taskId: oldest.taskId }
  if (running > 0 && waiting > 0 && (flow?.ended5m ?? 0) === 0 && !isHeldBack(reading, 'ended'))
    return { kind: 'stopped', running, waiting }
  if (trouble) return trouble
  if (!flow && numbers.depth.value === 0 && isQuiet(reading, { depth: 0, in1m: 0, out1m: 0 })) return { kind: 'quiet' }
  return {
    kind: 'well',
    in1m: isHeldBack(reading, 'submitted') ? null : (flow?.submitted1m ?? 0),
    out1m: isHeldBack(reading, 'finished') ? null : (flow?.finished1m ?? 0)
  }
}

/** One error of the type in the window. */
export interface TypeError {
  /** null: the lease ran out, which has no code. */
  readonly code: string | null
  readonly count: number
  readonly failed: number
  /** Share of the type's attempts in the window. */
  readonly share: number
  readonly lastAt: number
  readonly lastTaskId: string
  readonly workers: readonly string[]
}

const troubles: readonly EndedAttempt['outcome'][] = ['FAILED', 'RETRY', 'LEASE_EXPIRED']

/** The most frequent first. */
export function typeErrors(ended: readonly EndedAttempt[]): TypeError[] {
  const counted = ended.filter((one) => one.outcome !== 'HANDED_BACK')
  const groups = new Map<string | null, EndedAttempt[]>()
  for (const one of counted) {
    if (!troubles.includes(one.outcome)) continue
    groups.set(one.errorCode, [...(groups.get(one.errorCode) ?? []), one])
  }
  return [...groups]
    .map(([code, attempts]) => {
      const last = attempts.reduce((newest, one) => (one.endedAt > newest.endedAt ? one : newest))
      return {
        code,
        count: attempts.length,
        failed: attempts.filter((one) => one.outcome === 'FAILED').length,
        share: attempts.length / counted.length,
        lastAt: last.endedAt,
        lastTaskId: last.taskId,
        workers: [...new Set(attempts.map((one) => one.workerId))].sort()
      }
    })
    .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
}

/** One worker that runs the type or ran it in the window. */
export interface TypeWorker {
  readonly id: string
  readonly running: number
  readonly longestMs: number | null
  readonly ended: number
  readonly troubled: number
}

/** Those that run it first, the most at the top. */
export function typeWorkers(
  ended: readonly EndedAttempt[],
  running: readonly RunningAttempt[],
  at: number
): TypeWorker[] {
  const ids = new Set([...running.map((one) => one.workerId), ...ended.map((one) => one.workerId)])
  return [...ids]
    .map((id) => {
      const mine = running.filter((one) => one.workerId === id)
      const past = ended.filter((one) => one.workerId === id && one.outcome !== 'HANDED_BACK')
      return {
        id,
        running: mine.length,
        longestMs: mine.length > 0 ? at - Math.min(...mine.map((one) => one.startedAt)) : null,
        ended: past.length,
        troubled: past.filter((one) => troubles.includes(one.outcome)).length
      }
    })
    .sort((a, b) => b.running - a.running || b.ended - a.ended || a.id.localeCompare(b.id, 'en', { numeric: true }))
}
