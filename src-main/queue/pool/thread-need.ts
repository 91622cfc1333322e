/* When to start or end a thread. Decisions only; the pool acts. Times are monotonic ms. */

/** What they need to know of a thread. */
export interface ThreadView {
  readonly wasReady: boolean
  /** It takes no further task. */
  readonly retired: boolean
  /** It could begin a task now. */
  readonly available: boolean
  readonly idleSince: number
  /** When its current task was handed over, or came after one that ended. What a task says of its progress is no turn. */
  readonly turnAt: number
}

export interface ThreadBounds {
  readonly slots: number
  readonly cores: number
}

/** Tasks of types that take less than this on average are quick: several of them go to a thread together. */
export const quickMs = 4
/** A task that waits this long may get another thread, however quick its type is. */
const waitMs = 20
/**
 * On a busy machine everything seems to take as long as others are let run: a quick task, and a thread that is not stuck. How late timers come says how
 * long that is; so many times that is allowed for.
 */
const lagsAllowed = 4
const idleThreadMs = 60_000
/** Threads that are kept without need: a worker that gets a few tasks now and then starts none for them. */
const mostKept = 4

const usable = <Thread extends ThreadView>(threads: readonly Thread[]): Thread[] =>
  threads.filter(({ retired }) => !retired)

/** Within the slots, and `atOnce` starting together: more would only make each of them later. */
export function mayStart(
  threads: readonly ThreadView[],
  { slots, atOnce }: { slots: number; atOnce: number }
): boolean {
  const starting = threads.filter(({ wasReady }) => !wasReady).length
  return starting < atOnce && usable(threads).length < slots
}

/** What is known of a task's type and of the machine. */
export interface Pace {
  /** Of the type. */
  readonly meanMs: number
  /** How late timers come on average. */
  readonly lagMs: number
}

const isQuick = ({ meanMs, lagMs }: Pace): boolean => meanMs <= quickMs + lagsAllowed * lagMs

/** For a task that finds no free thread. Quick ones are through before another thread is up: they get one a core. */
export function needsThreadAtOnce(threads: readonly ThreadView[], pace: Pace, cores: number): boolean {
  return !isQuick(pace) || threads.length < cores
}

export interface WaitingTask extends Pace {
  readonly now: number
  readonly queuedAt: number
}

/** Whether another thread would help a task that waits. Quick ones wait because the machine is busy, unless each thread is stuck in one task. */
export function needsThread(threads: readonly ThreadView[], { now, queuedAt, ...pace }: WaitingTask): boolean {
  if (queuedAt >= now - waitMs) return false
  if (!isQuick(pace)) return true
  const before = now - Math.max(waitMs, lagsAllowed * pace.lagMs)
  const ready = usable(threads).filter(({ wasReady }) => wasReady)
  return ready.length > 0 && ready.every(({ turnAt }) => turnAt < before)
}

/** Idle ones above the slots. */
export function surplusThreads<Thread extends ThreadView>(threads: readonly Thread[], slots: number): Thread[] {
  const idle = threads.filter(({ available }) => available)
  return idle.slice(0, Math.max(0, usable(threads).length - slots))
}

/** Those that nothing needed for a minute, but for a few. */
export function unneededThreads<Thread extends ThreadView>(
  threads: readonly Thread[],
  { now, slots, cores }: ThreadBounds & { readonly now: number }
): Thread[] {
  const idle = threads.filter(({ available, idleSince }) => available && idleSince < now - idleThreadMs)
  return idle.slice(0, Math.max(0, threads.length - Math.min(cores, slots, mostKept)))
}
