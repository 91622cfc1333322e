import { pause, type Clock } from '../../kernel/index.ts'

export interface PacedLoopOptions {
  readonly clock: Clock
  readonly firstPauseMs: number
  /** Must not reject. Returns the pause before the next one (ms); `stopped` ends a long one early. */
  readonly round: (stopped: AbortSignal) => number | Promise<number>
}

/** Rounds of housekeeping with pauses between them, until it is stopped. */
export class PacedLoop {
  private readonly options: PacedLoopOptions
  private readonly stopped = new AbortController()
  private loop: Promise<void> = Promise.resolve()

  constructor(options: PacedLoopOptions) {
    this.options = options
  }

  start(): void {
    this.loop = this.run()
  }

  /** Resolves when the round under way has ended. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await this.loop
  }

  private async run(): Promise<void> {
    const { clock, firstPauseMs, round } = this.options
    const { signal } = this.stopped
    let pauseMs = firstPauseMs
    while (await pause(clock, pauseMs, signal)) pauseMs = await round(signal)
  }
}
