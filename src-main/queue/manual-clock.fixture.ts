import type { Clock } from '../kernel/index.ts'

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Time that moves only when a test says so. Chance is always 0.5. */
export class ManualClock implements Clock {
  private time = 0
  private readonly sleepers = new Set<Sleeper>()

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.time
  }

  random(): number {
    return 0.5
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const sleeper = { at: this.time + ms, wake: resolve }
      this.sleepers.add(sleeper)
      const onAbort = (): void => {
        this.sleepers.delete(sleeper)
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Wakes who is due, in order, and lets each act before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await settled()
    for (;;) {
      const next = [...this.sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.time = Math.max(this.time, next.at)
      this.sleepers.delete(next)
      next.wake()
      await settled()
    }
    this.time = end
  }
}

/** All that can happen without time passing has happened. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
