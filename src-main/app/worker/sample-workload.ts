import type { SampleKind } from '../../contract/index.ts'
import type { Clock, NewTask } from '../../kernel/index.ts'
import { sampleBacklog, sampleRoundMs, sampleTasks } from './sample-tasks.ts'

export interface SampleWorkloadOptions {
  readonly kind: SampleKind
  readonly clock: Clock
  /** How many tasks wait now, as far as known. */
  waiting(): number
  submit(tasks: readonly NewTask[]): Promise<void>
  /** A round that failed; the next one tries again. */
  onFailure(error: unknown): void
}

/** Submits sample tasks at a pace until it is stopped. */
export class SampleWorkload {
  readonly kind: SampleKind
  private readonly options: SampleWorkloadOptions
  private readonly stopping = new AbortController()
  private readonly loop: Promise<void>

  constructor(options: SampleWorkloadOptions) {
    this.kind = options.kind
    this.options = options
    this.loop = this.run()
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.loop
  }

  private async run(): Promise<void> {
    const { kind, clock } = this.options
    const random = (): number => clock.random()
    for (let round = 0; !this.stopping.signal.aborted; round++) {
      await this.submit(sampleTasks(kind, round, random))
      await clock.sleep(sampleRoundMs, this.stopping.signal).catch(() => undefined)
    }
  }

  private async submit(tasks: readonly NewTask[]): Promise<void> {
    if (tasks.length === 0 || this.options.waiting() + tasks.length > sampleBacklog) return
    try {
      await this.options.submit(tasks)
    } catch (error) {
      this.options.onFailure(error)
    }
  }
}
