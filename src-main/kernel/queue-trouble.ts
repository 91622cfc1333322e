import { enoughAttempts, type AlertSignal } from './alert.ts'
import { isHeldBack } from './probe.ts'
import type { LimitsOf, QueueLimits } from './queue-limits.ts'
import { workerAliveMs, type QueueReading, type TypeFlow, type WorkerRow } from './reading.ts'

/** What is said of one reading, derived once. Rates are fractions; null is unknown. */
export interface ReadingNumbers {
  readonly depth: number
  readonly waiting: number
  readonly in1m: number
  readonly out1m: number
  readonly oldest: QueueReading['oldest'][number] | null
  /** Attempts of the last 5 minutes, those that failed for good, and their share; null when none ended, or too few to say. */
  readonly ended: number
  readonly failed: number
  readonly failureRate: number | null
  readonly alive: readonly WorkerRow[]
  readonly known: readonly WorkerRow[]
  /** Known but without a heartbeat, the longest silent first. */
  readonly silent: readonly WorkerRow[]
}

export function numbersOf(reading: QueueReading): ReadingNumbers {
  const sum = (of: (flow: TypeFlow) => number): number => reading.flow.reduce((total, flow) => total + of(flow), 0)
  const known = reading.workers.filter((worker) => worker.status !== 'stopped')
  const isAlive = (worker: WorkerRow): boolean => reading.at - worker.lastHeartbeatAt < workerAliveMs
  const waiting = reading.depth.filter(({ state }) => state === 'QUEUED' || state === 'RETRY_WAIT')
  const ended = sum((flow) => flow.ended5m)
  const failed = sum((flow) => flow.failed5m)
  return {
    depth: reading.depth.reduce((total, part) => total + part.count, 0),
    waiting: waiting.reduce((total, part) => total + part.count, 0),
    in1m: sum((flow) => flow.submitted1m),
    out1m: sum((flow) => flow.finished1m),
    oldest: longestFirst(reading.oldest)[0] ?? null,
    ended,
    failed,
    failureRate: ended === 0 ? null : sayableRate(failed / ended, ended),
    known,
    alive: known.filter(isAlive),
    silent: known.filter((worker) => !isAlive(worker)).sort((a, b) => a.lastHeartbeatAt - b.lastHeartbeatAt)
  }
}

/** Nothing waits, runs, comes or goes, as far as that was read. */
export const isQuiet = (
  reading: Pick<QueueReading, 'limits'>,
  { depth, in1m, out1m }: Pick<ReadingNumbers, 'depth' | 'in1m' | 'out1m'>
): boolean =>
  depth === 0 &&
  in1m === 0 &&
  out1m === 0 &&
  !(['depth', 'submitted', 'finished'] as const).some((probe) => isHeldBack(reading, probe))

const longestFirst = (oldest: QueueReading['oldest']): QueueReading['oldest'] =>
  [...oldest].sort((a, b) => b.ageMs - a.ageMs)

/**
 * A share of attempts as the rules see it: null while too few ended to say more than that none did. Else the last failure of a minute that was
 * busy would become 100 % once the successes before it have left the window.
 */
export const sayableRate = (rate: number, ended: number): number | null =>
  rate === 0 || ended >= enoughAttempts ? rate : null

/** Attempts that did not succeed, retried ones included, as a fraction: some retries are a handler's daily life. No alert rule is about it. */
const troubleRate = 0.25

/**
 * What is wrong with a type's attempts of the last 5 minutes. `failing`: too many failed for good, which is the failure rate of tiles, charts and
 * rules. `retrying`: too many did not succeed, nearly all of which are to be tried again. Rates are fractions of the attempts that ended;
 * `againRate` is of those to be tried again, retried or lost: null where a table tells of no attempts.
 */
export type TypeTrouble =
  | { readonly kind: 'failing'; readonly failureRate: number; readonly againRate: number | null }
  | { readonly kind: 'retrying'; readonly failureRate: number; readonly againRate: number }

/** Of a type's flow in a reading; null when it is well, or too few attempts ended to say so. */
export function troubleOf({
  flow,
  reading,
  limits
}: {
  readonly flow: TypeFlow
  readonly reading: Pick<QueueReading, 'limits'>
  readonly limits: QueueLimits
}): TypeTrouble | null {
  if (flow.ended5m < enoughAttempts) return null
  const failureRate = flow.failed5m / flow.ended5m
  const againRate = isHeldBack(reading, 'retries')
    ? null
    : Math.min(1 - failureRate, (flow.retried5m + flow.recovered5m) / flow.ended5m)
  if (failureRate > limits.failureRate) return { kind: 'failing', failureRate, againRate }
  if (againRate === null || failureRate + againRate <= troubleRate) return null
  return { kind: 'retrying', failureRate, againRate }
}

/** The type with the most attempts that did not succeed, of those that fail if there are any. */
function worstTrouble(reading: QueueReading, limitsOf: LimitsOf): (TypeTrouble & { readonly type: string }) | null {
  const unsuccessful = ({ failed5m, retried5m, recovered5m }: TypeFlow): number => failed5m + retried5m + recovered5m
  const found = reading.flow.flatMap((flow) => {
    const trouble = troubleOf({ flow, reading, limits: limitsOf(flow.type) })
    return trouble ? [{ flow, trouble }] : []
  })
  const failing = found.filter(({ trouble }) => trouble.kind === 'failing')
  const [worst] = (failing.length > 0 ? failing : found).sort((a, b) => unsuccessful(b.flow) - unsuccessful(a.flow))
  return worst ? { type: worst.flow.type, ...worst.trouble } : null
}

/** What is wrong in a reading, whether a rule fires or not; ages are milliseconds. */
export type QueueTrouble =
  | { readonly kind: 'noWorkers'; readonly waiting: number }
  | (TypeTrouble & { readonly type: string })
  | { readonly kind: 'oldest'; readonly type: string; readonly ageMs: number; readonly taskId: string }

/** What the newest reading says by itself: it names the type and the task, which a figure of the whole queue does not. The worst, or null. */
export const queueTrouble = (reading: QueueReading, limitsOf: LimitsOf): QueueTrouble | null =>
  queueTroubles(reading, limitsOf)[0] ?? null

/** The same, and what is wrong beside it: one of each kind, the worst first. */
export function queueTroubles(reading: QueueReading, limitsOf: LimitsOf): QueueTrouble[] {
  const { waiting, alive } = numbersOf(reading)
  const isLeft = !isHeldBack(reading, 'workers') && waiting > 0 && alive.length === 0
  const worst = worstTrouble(reading, limitsOf)
  const oldest = longestFirst(reading.oldest).find(({ type, ageMs }) => ageMs > limitsOf(type).oldestMs)
  const waits: QueueTrouble[] = oldest ? [{ kind: 'oldest', ...oldest }] : []
  const fails: QueueTrouble[] = worst ? [worst] : []
  return [
    ...(isLeft ? [{ kind: 'noWorkers', waiting } as const] : []),
    ...(worst?.kind === 'failing' ? [...fails, ...waits] : [...waits, ...fails])
  ]
}

const signals: { readonly [kind in QueueTrouble['kind']]?: AlertSignal } = {
  noWorkers: 'workersSilent',
  failing: 'failureRate',
  oldest: 'oldestMs'
}

/** Whether a rule's figure is what the trouble says. A rule of the whole queue is about each of its types. */
export function isAbout(
  trouble: QueueTrouble,
  { signal, type }: { readonly signal: AlertSignal; readonly type: string }
): boolean {
  return signal === signals[trouble.kind] && (type === '' || ('type' in trouble && type === trouble.type))
}
