/** Something long-lived with an idempotent end. */
export interface Stoppable {
  stop(): Promise<void>
}

/** Stops in reverse order of adding; each once, all of them even when one fails. The first failure is thrown at the end. */
export class StopStack implements Stoppable {
  private readonly entries: (() => Promise<void> | void)[] = []

  add(stop: () => Promise<void> | void): void {
    this.entries.push(stop)
  }

  async stop(): Promise<void> {
    const failures: unknown[] = []
    for (let stop = this.entries.pop(); stop; stop = this.entries.pop()) {
      try {
        await stop()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
