import type { Span } from './evidence.ts'

/** When nothing could be recovered: the database was away or refused, or no process was well. By the machine's clock, which the database has too. */
export class Outages {
  private readonly over: Span[] = []
  private readonly since = new Map<unknown, number>()

  set(cause: unknown, isOn: boolean): void {
    const fromMs = this.since.get(cause)
    if (isOn === (fromMs !== undefined)) return
    if (fromMs === undefined) {
      this.since.set(cause, Date.now())
      return
    }
    this.since.delete(cause)
    this.over.push({ fromMs, toMs: Date.now() })
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.set(work, true)
    try {
      return await work()
    } finally {
      this.set(work, false)
    }
  }

  get spans(): readonly Span[] {
    return [...this.over, ...[...this.since.values()].map((fromMs) => ({ fromMs, toMs: Date.now() }))]
  }
}
