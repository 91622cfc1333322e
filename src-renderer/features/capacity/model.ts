/*
 * What a queue can do, from a few numbers. All pure. null is unknown, and what follows from something unknown is unknown.
 * Rates are a second, times milliseconds.
 */

export interface CapacityInputs {
  readonly workers: number | null
  /** Of one worker. */
  readonly slots: number | null
  /** How long an attempt holds its slot, on average. */
  readonly durationMs: number | null
  /** Tasks that one claim brings at most. */
  readonly batch: number | null
  /** Between two claims of one worker while tasks wait. */
  readonly claimMs: number | null
  /** Tasks that come. */
  readonly arrivals: number | null
  /** Attempts that a task takes until it has ended. 1 without retries. */
  readonly attempts: number | null
  /** Tasks that wait for these workers; null also while workers leave some of them, and then no wait follows either. */
  readonly waiting: number | null
  /** Slots, and attempts a second, that other types take of the same workers; 0 when all types are meant. */
  readonly taken: { readonly slots: number | null; readonly rate: number | null }
}

export type Bottleneck = 'workers' | 'slots' | 'claims'

export interface Capacity {
  /** Attempts a second that the slots can hold, and that claims can bring. */
  readonly execute: number | null
  readonly claim: number | null
  /** Tasks a second: the smaller of both, by the attempts that a task takes. */
  readonly throughput: number | null
  readonly bottleneck: Bottleneck | null
  /** Of the throughput, the part that arrivals need; above 1 the queue grows. Unbounded when nothing can be done. */
  readonly use: number | null
}

const product = (...factors: (number | null)[]): number | null => {
  if (factors.includes(0)) return 0
  return factors.reduce<number | null>((all, one) => (all === null || one === null ? null : all * one), 1)
}
const quotient = (a: number | null, b: number | null): number | null =>
  a === 0 && b !== 0 ? 0 : a === null || b === null || b <= 0 ? null : a / b
const less = (a: number | null, b: number | null): number | null =>
  a === 0 ? 0 : a === null || b === null ? null : Math.max(0, a - b)

/** Slots that are there for what is asked about. */
export const freeSlots = ({ workers, slots, taken }: CapacityInputs): number | null =>
  less(product(workers, slots), taken.slots)

export function capacityOf(inputs: CapacityInputs): Capacity {
  const { workers, batch, durationMs, claimMs, arrivals, attempts, taken } = inputs
  const execute = perSecond(quotient(freeSlots(inputs), durationMs))
  const claim = less(perSecond(quotient(product(workers, batch), claimMs)), taken.rate)
  const most = execute === null || claim === null ? null : Math.min(execute, claim)
  const throughput = quotient(most, attempts)
  return {
    ...{ execute, claim, throughput },
    bottleneck: most === null ? null : workers === 0 ? 'workers' : execute === most ? 'slots' : 'claims',
    use: useOf(arrivals, throughput)
  }
}

const perSecond = (perMs: number | null): number | null => (perMs === null ? null : perMs * 1000)

function useOf(arrivals: number | null, throughput: number | null): number | null {
  if (arrivals === null || throughput === null) return null
  if (arrivals === 0) return 0
  return throughput === 0 ? Number.POSITIVE_INFINITY : arrivals / throughput
}

export type Drain =
  | { readonly kind: 'empty' | 'unknown' }
  | { readonly kind: 'drains'; readonly ms: number }
  /** By so many tasks a second; 0 is neither. */
  | { readonly kind: 'grows'; readonly rate: number }

/** How long what waits now will last, if things stay as they are. */
export function drainOf(inputs: CapacityInputs): Drain {
  const { waiting, arrivals } = inputs
  const { throughput } = capacityOf(inputs)
  if (arrivals === null || throughput === null || waiting === null) return { kind: 'unknown' }
  if (throughput <= arrivals && arrivals > 0) return { kind: 'grows', rate: arrivals - throughput }
  if (waiting === 0) return { kind: 'empty' }
  return throughput > arrivals
    ? { kind: 'drains', ms: (waiting / (throughput - arrivals)) * 1000 }
    : { kind: 'grows', rate: 0 }
}

/** Of this many workers and more nothing is said. */
export const mostWorkers = 2_000
/** More slots than this at once are not computed. */
const mostSlots = 100_000

/**
 * What 95 % of new tasks wait at most once nothing has piled up: Erlang's formula for slots that share one queue, with arrivals and
 * durations that vary as by chance. null when something is unknown; Infinity when the queue grows.
 */
export function waitOf(inputs: CapacityInputs, share = 0.95): number | null {
  const { durationMs, claimMs, arrivals, attempts, waiting } = inputs
  const servers = freeSlots(inputs)
  const { use } = capacityOf(inputs)
  const load = product(arrivals, attempts, durationMs)
  if (use === null || servers === null || load === null || durationMs === null || claimMs === null || waiting === null)
    return null
  if (use >= 1) return Number.POSITIVE_INFINITY
  const whole = Math.min(mostSlots, Math.floor(servers))
  const erlangs = load / 1000
  if (whole <= erlangs) return Number.POSITIVE_INFINITY
  const waits = waitingChance(whole, erlangs)
  const beyond = 1 - share
  return waits <= beyond ? claimMs : claimMs + (durationMs / (whole - erlangs)) * Math.log(waits / beyond)
}

/** Erlang's C: the chance that a task meets no free slot. By the recursion of his B, which never overflows. */
function waitingChance(servers: number, erlangs: number): number {
  let blocked = 1
  for (let n = 1; n <= servers; n++) blocked = (erlangs * blocked) / (n + erlangs * blocked)
  return (servers * blocked) / (servers - erlangs * (1 - blocked))
}

/** The fewest workers with which 95 % of new tasks wait no longer. null: unknown, or not with `mostWorkers` either. */
export function workersForWait(inputs: CapacityInputs, waitMs: number): number | null {
  return fewestWorkers((workers) => {
    const wait = waitOf({ ...inputs, workers })
    return wait === null ? null : wait <= waitMs
  })
}

/** The fewest workers with which what waits now is gone within the time. null as above. */
export function workersForDrain(inputs: CapacityInputs, withinMs: number): number | null {
  return fewestWorkers((workers) => {
    const drain = drainOf({ ...inputs, workers })
    if (drain.kind === 'unknown') return null
    return drain.kind === 'empty' || (drain.kind === 'drains' && drain.ms <= withinMs)
  })
}

/** More workers never do less, so halving finds the first that is enough. */
function fewestWorkers(isEnough: (workers: number) => boolean | null): number | null {
  if (isEnough(mostWorkers) !== true) return null
  let [low, high] = [0, mostWorkers]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isEnough(middle) === true) high = middle
    else low = middle + 1
  }
  return high
}
