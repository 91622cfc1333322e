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
/** A start that took longer was one of a bad moment: tasks do not wait as long for the next. */
const mostStartMs = 1_000
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

/** For a task that finds no free thread. Quick ones are through before another thread is up: they get one a core. */
export function needsThreadAtOnce(threads: readonly ThreadView[], meanMs: number, cores: number): boolean {
  return meanMs > quickMs || threads.length < cores
}

export interface WaitingTask {
  readonly now: number
  readonly queuedAt: number
  /** Of its type. */
  readonly meanMs: number
  /** How long the last start of a thread took. */
  readonly startMs: number
}

/**
 * Whether another thread would help a task that waits. Quick ones wait because the machine is busy, unless each thread is stuck in one task, and
 * longer than a start takes; a start costs as much time as hundreds of them, so one is waited for before the next.
 */
export function needsThread(threads: readonly ThreadView[], { now, queuedAt, meanMs, startMs }: WaitingTask): boolean {
  if (queuedAt >= now - waitMs) return false
  if (meanMs > quickMs) return true
  const before = now - Math.max(waitMs, Math.min(startMs, mostStartMs))
  return usable(threads).every(({ wasReady, turnAt }) => wasReady && turnAt < before)
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
