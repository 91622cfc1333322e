import type { Clock, WorkerRequest } from '../../kernel/index.ts'
import type { TaskStore, WorkerReport } from '../task-store.ts'
import type { DatabaseState } from './database-state.ts'
import { PacedLoop } from './paced-loop.ts'

export interface ReportLoopOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly database: DatabaseState
  readonly everyMs: number
  readonly report: () => WorkerReport
  /** What another process asks of this worker, with each report; null for nothing. */
  readonly onRequest: (request: WorkerRequest | null) => void
}

/**
 * Says how the worker is, and hears what is asked of it. Apart from the heartbeats: whoever locks the rows of workers may delay this, and
 * no lease.
 */
export class ReportLoop {
  private readonly options: ReportLoopOptions
  private readonly loop: PacedLoop
  private latest: Promise<void> = Promise.resolve()

  constructor(options: ReportLoopOptions) {
    this.options = options
    const { clock, everyMs } = options
    this.loop = new PacedLoop({ clock, firstPauseMs: 0, round: () => this.reportNow().then(() => everyMs) })
  }

  start(): void {
    this.loop.start()
  }

  stop(): Promise<void> {
    return this.loop.stop()
  }

  /** Also after `stop`. One after the other: a late one must not undo a newer one, nor take a second connection. Never rejects. */
  reportNow(): Promise<void> {
    this.latest = this.latest.then(() => this.send())
    return this.latest
  }

  private async send(): Promise<void> {
    const { store, database, report, onRequest } = this.options
    try {
      onRequest(await store.reportWorker(report()))
      database.succeeded('report')
    } catch (error) {
      database.failed('report', error)
    }
  }
}
