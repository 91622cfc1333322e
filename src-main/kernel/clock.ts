/**
 * The only source of time, delay and chance outside the databases. Local time decides nothing about a task: due times
 * and leases are the database's; this clock paces loops, sets deadlines and stamps what the page shows.
 */
export interface Clock {
  /** Milliseconds since the epoch, UTC. May jump. */
  now(): number
  /** Milliseconds from an arbitrary start; never jumps back. */
  monotonic(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A number in [0, 1). */
  random(): number
}

/** Some 25 days. A timer that is set for longer runs out at once. */
const longestTimerMs = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortReason(signal))
      const wait = (left: number): ReturnType<typeof setTimeout> => {
        const leg = Math.min(left, longestTimerMs)
        return setTimeout(() => {
          if (left > leg) {
            timer = wait(left - leg)
            return
          }
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }, leg)
      }
      let timer = wait(ms)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(abortReason(signal))
      }
      signal?.addEventListener('abort', onAbort, { once: true })
    })
}

/** The step of a loop: true when `ms` are over, false when `signal` aborted first. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(ms, signal).then(
    () => true,
    () => false
  )
}

const abortReason = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError')

/** One for all: making an abort reason per call costs twice as much as all the rest of a deadline. */
const endedInTime = new Error('ended before its deadline')

/** Rejects with `onTimeout()` when `work` takes longer than `ms`. `work` itself goes on: cancel it by its own means. */
export async function withDeadline<T>(clock: Clock, ms: number, work: Promise<T>, onTimeout: () => Error): Promise<T> {
  const timer = new AbortController()
  const late = clock.sleep(ms, timer.signal).then(() => {
    throw onTimeout()
  })
  late.catch(() => undefined) // an aborted timer is the normal end
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort(endedInTime)
  }
}
